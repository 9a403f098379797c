import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { until } from '../../support/until.ts'
import type { Workspace } from '../../support/workspace.ts'

/** A real Prometheus with one target. */
export interface Prometheus extends AsyncDisposable {
  readonly url: string
  /** `GET /api/v1/<path>`: its `data`. @throws with the words of Prometheus when it refuses */
  get<T>(path: string, parameters?: Readonly<Record<string, string>>): Promise<T>
}

/** A target, with the labels that its series get. */
interface Scraped {
  /** `http://HOST:PORT`. */
  readonly url: string
  readonly labels: Readonly<Record<string, string>> & { readonly job: string }
}

export interface PrometheusOptions {
  readonly workspace: Workspace
  /** Every half second. */
  readonly scraped: readonly Scraped[]
  readonly rulesFiles: readonly string[]
}

export interface Checked {
  readonly ok: boolean
  readonly said: string
}

/**
 * Runs promtool to its end.
 * @param input what it reads from its standard input
 * @throws when it is not installed
 */
export async function promtool(args: readonly string[], input = ''): Promise<Checked> {
  try {
    const running = promisify(execFile)('promtool', [...args], { timeout: 600_000 })
    running.child.stdin?.on('error', () => undefined).end(input) // whoever does not read it closes it
    const { stdout, stderr } = await running
    return { ok: true, said: stdout + stderr }
  } catch (error) {
    throwIfAbsent(error, 'promtool')
    const { stdout, stderr } = error as { stdout: string; stderr: string } // of execFile
    return { ok: false, said: stdout + stderr }
  }
}

function throwIfAbsent(error: unknown, command: string): void {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
    throw new Error(`${command} is not installed: apt-get install prometheus`, { cause: error })
  }
}

export async function startPrometheus({
  workspace,
  scraped,
  rulesFiles,
}: PrometheusOptions): Promise<Prometheus> {
  const times = 'scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms'
  const configs = scraped.map(({ url, labels: { job, ...labels } }, index) => ({
    job_name: `${index}-${job}`,
    static_configs: [{ targets: [new URL(url).host], labels }],
    relabel_configs: [{ target_label: 'job', replacement: job }],
  }))
  workspace.write(
    'prometheus.yml',
    `global: {${times}}\nrule_files: ${JSON.stringify(rulesFiles)}\nscrape_configs: ${JSON.stringify(configs)}\n`,
  )
  const child = spawn(
    'prometheus',
    [
      `--config.file=${workspace.path('prometheus.yml')}`,
      `--storage.tsdb.path=${workspace.path('prometheus')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  // A test that runs out of time never comes to its disposal.
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  let failure: Error | undefined
  const ended = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      failure = error
      resolve()
    })
    child.on('close', () => resolve())
  })
  async function end(): Promise<void> {
    child.kill('SIGKILL') // its data is of no use to anyone
    await ended
    process.off('exit', killWithUs)
  }

  try {
    const url = await until('Prometheus to listen', () => {
      const address = /msg="Listening on" address=(\S+)/.exec(said)?.[1]
      return (
        (address !== undefined && `http://${address}`) || failure !== undefined || child.exitCode !== null
      )
    })
    throwIfAbsent(failure, 'prometheus')
    if (typeof url !== 'string') throw new Error(`Prometheus did not start: ${said}`, { cause: failure })
    await until('Prometheus to be ready', async () => (await fetch(`${url}/-/ready`)).ok)
    return { url, get: (path, parameters) => ask(url, path, parameters), [Symbol.asyncDispose]: end }
  } catch (error) {
    await end()
    throw error
  }
}

async function ask<T>(
  url: string,
  path: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<T> {
  const reply = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`)
  const body = (await reply.json()) as { status: string; error?: string; data: T } // as its API promises
  if (body.status !== 'success') throw new Error(`${path} ${JSON.stringify(parameters)}: ${body.error}`)
  return body.data
}
