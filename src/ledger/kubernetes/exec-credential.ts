import { execFile, type ExecFileException } from 'node:child_process'
import { z } from 'zod'
import { LedgerError } from '../../contract/ledger.ts'
import { excerptOf } from '../../lib/excerpt.ts'
import { parseJson } from '../../lib/json.ts'
import { createSecretMask } from '../../lib/mask/secret-mask.ts'

/** Credential plugin of a kubeconfig, such as `aws eks get-token` or `gke-gcloud-auth-plugin`. */
export const Exec = z.strictObject({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']),
  command: z.string(),
  args: z.array(z.string()).nullish(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
  interactiveMode: z
    .enum(['Never', 'IfAvailable'], {
      error: 'Pipewright has no terminal for the program. Set interactiveMode to Never or IfAvailable',
    })
    .nullish(),
})

const Status = z.object({
  token: z.string().nullish(),
  clientCertificateData: z.string().nullish(),
  clientKeyData: z.string().nullish(),
  expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
})

/** ms until a credential plugin is killed, because it might wait for a person or the network. */
const TIMEOUT_MS = 15_000
const MAX_BYTES = 1024 * 1024
/** A credential is renewed in the background this long before its end. */
const EARLY_MS = 60_000
/** Long words in a program's error message might be tokens, and are not shown. */
const LONG_WORD = /\S{40,}/g
const MAX_MESSAGE = 200

export function runProgram(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  done: (error: Error | null, stdout: string, stderr: string) => void,
): void {
  const limits = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES } as const
  execFile(command, args, { env, ...limits }, done).stdin?.end()
}

type Login = Omit<z.infer<typeof Status>, 'expirationTimestamp'> & { readonly endsAt: number }

export function createExecCredential(
  exec: z.infer<typeof Exec>,
  parts: {
    readonly env: NodeJS.ProcessEnv
    readonly cluster: () => Promise<object>
    readonly run: typeof runProgram
  },
) {
  const { env, cluster, run } = parts
  let known: Login | undefined
  let running: Promise<Login> | undefined

  function renew(): Promise<Login> {
    running ??= ask().finally(() => {
      running = undefined
    })
    return running
  }

  async function ask(): Promise<Login> {
    const { apiVersion, command, args, env: more, provideClusterInfo } = exec
    const spec = { interactive: false, ...(provideClusterInfo === true && { cluster: await cluster() }) }
    const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec })
    const own = Object.fromEntries((more ?? []).map(({ name, value }) => [name, value]))
    const said = await new Promise<string>((resolve, reject) => {
      run(command, args ?? [], { ...env, ...own, KUBERNETES_EXEC_INFO: info }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new LedgerError('io', failureWords(exec, error, stderr)))
      })
    })
    const { expirationTimestamp: end, ...status } = statusOf(said, exec)
    known = { ...status, endsAt: end ? Date.parse(end) : Infinity }
    return known
  }

  return {
    async current(now: number): Promise<Login> {
      if (known === undefined || known.endsAt <= now) return renew()
      // Ignores a failed early renewal, because `current` tries again when the credential ends.
      if (known.endsAt <= now + EARLY_MS) renew().catch(() => undefined)
      return known
    },
    forget() {
      known = undefined
    },
  }
}

/** Errors do not show `stdout`, because it can hold a token. */
function statusOf(stdout: string, { command, apiVersion }: z.infer<typeof Exec>): z.infer<typeof Status> {
  const wrong = (why: string) => new LedgerError('io', `${nameOf(command)} ${why}.`)
  const Said = z.object({
    kind: z.literal('ExecCredential'),
    apiVersion: z.literal(apiVersion),
    status: Status,
  })
  const reading = Said.safeParse(parseJson(stdout))
  if (!reading.success) {
    const member = reading.error.issues[0]?.path.join('.')
    throw wrong(`printed no ExecCredential of ${apiVersion}${member ? ` (${member})` : ''}`)
  }
  const { status } = reading.data
  if (!status.clientCertificateData !== !status.clientKeyData)
    throw wrong('printed a client certificate without its key, or a key without its certificate')
  if (!status.token && !status.clientCertificateData) throw wrong('printed no token and no certificate')
  return status
}

function failureWords(
  { command, env, installHint }: z.infer<typeof Exec>,
  error: Error,
  stderr: string,
): string {
  const { code, signal, killed } = error as ExecFileException
  const mask = createSecretMask((env ?? []).map(({ value }) => value))
  const hint = excerptOf(installHint ?? '', mask)
  if (code === 'ENOENT') return `${nameOf(command)} was not found. ${hint || 'Install it, or name its path'}.`
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return `${nameOf(command)} printed more than ${MAX_BYTES} bytes.`
  if (killed === true)
    return `${nameOf(command)} did not end within ${TIMEOUT_MS / 1_000} s. If the program asks a question, Pipewright cannot answer. Run the program by hand.`
  const said = excerptOf(stderr.replaceAll(LONG_WORD, '…'), mask).slice(-MAX_MESSAGE)
  return `${nameOf(command)} failed (${code ?? signal})${said === '' ? '' : `: ${said}`}. Run it by hand.`
}

function nameOf(command: string): string {
  return `The program "${command}", which the kubeconfig names to log in,`
}
