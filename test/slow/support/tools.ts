import { execFile, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Programs that slow tests need, and how a machine gets them. */
const INSTALL = {
  actionlint: 'go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7',
  buildah: 'apt-get install buildah',
  crane: 'go install github.com/google/go-containerregistry/cmd/crane@v0.20.6',
  debootstrap: 'apt-get install debootstrap',
  git: 'apt-get install git',
  go: 'the Go toolchain, with "go" on the PATH',
  helm: 'go install helm.sh/helm/v4/cmd/helm@v4.3.0',
  // Built as `helm`, and given this name: `GOBIN=DIR go install …`, then `mv DIR/helm helm3`.
  helm3: 'go install helm.sh/helm/v3/cmd/helm@v3.22.0',
  'kube-score': 'go install github.com/zegl/kube-score/cmd/kube-score@v1.20.0',
  ip: 'apt-get install iproute2',
  kustomize: 'go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1',
  'kubectl-validate': 'go install sigs.k8s.io/kubectl-validate@v0.0.4',
  nsenter: 'apt-get install util-linux',
  'pre-commit': 'apt-get install pre-commit',
  shellcheck: 'apt-get install shellcheck',
  'systemd-analyze': 'apt-get install systemd',
  script: 'apt-get install bsdutils',
  unshare: 'apt-get install util-linux',
} as const

/**
 * Where a program is: on the PATH, or where `go install` puts it.
 * @throws naming what to install; a missing tool is never a reason to skip
 */
export function tool(name: keyof typeof INSTALL): string {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/go/bin']
  const found = firstWith(name, places) ?? firstWith(name, goBin())
  if (found === undefined) throw new Error(`${name} is missing; install it: ${INSTALL[name]}`)
  return found
}

function goBin(): readonly string[] {
  const { GOBIN, GOPATH, HOME = '' } = process.env
  const asked = spawnSync('go', ['env', 'GOPATH'], { encoding: 'utf8' })
  const gopath = asked.status === 0 ? asked.stdout.trim() : (GOPATH ?? join(HOME, 'go'))
  return [...(GOBIN === undefined ? [] : [GOBIN]), join(gopath, 'bin')]
}

function firstWith(name: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** ms; two minutes unless set */
  readonly limitMs?: number
}

/** Runs a program to its end, whatever that is. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, env = process.env, limitMs = 120_000 }: RunOptions = {},
): Promise<Ended> {
  try {
    const options = { cwd, env, timeout: limitMs, maxBuffer: 64_000_000 }
    const { stdout, stderr } = await promisify(execFile)(program, args, options)
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr, killed } = error as Ended & { killed: boolean } // what execFile rejects with
    if (killed || typeof code !== 'number') {
      throw new Error(`${program} ${args.join(' ')} did not end by itself: ${stderr}`, { cause: error })
    }
    return { code, stdout, stderr }
  }
}

/** Runs a program that has to end well. @returns its output */
export async function runWell(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, options)
  if (code !== 0) {
    throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${(stdout + stderr).slice(-8_000)}`)
  }
  return stdout
}
