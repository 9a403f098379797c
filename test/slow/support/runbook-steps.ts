import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import type { PodSpec } from './chart.ts'
import { ask, type Shown } from './chart-world.ts'
import type { Container } from './image-container.ts'
import { commandsOfRunbook, parseExec, wordsOf } from './runbook-commands.ts'
import type { PodWorld } from './runbook-pod.ts'

/* What an operator does in the pod of a test, and what he waits for. */

export function pipes(prefix: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, '']))
}

/** Runs a line of the runbook in the container. */
export async function typed(container: Container, line: string) {
  const { code, stdout, stderr } = await container.exec(wordsOf(line))
  return { code, said: stdout + stderr }
}

/** Runs the one line of the runbook that holds this text, as it stands there. */
export async function asWritten(container: Container, text: string) {
  const [line = '', ...more] = commandsOfRunbook().filter((one) => one.includes(text))
  if (line === '' || more.length > 0) throw new Error(`the runbook has not one line with "${text}"`)
  const { code, stdout, stderr } = await container.exec(parseExec(line).command)
  return { code, said: stdout + stderr }
}

export async function shown(daemon: Container): Promise<Shown['items']> {
  return (await ask<Shown>(daemon, 'http://127.0.0.1:8080/api/v1/resources')).items
}

export async function counts(container: Container, reason: string, count: number): Promise<void> {
  await until(
    `${count} resources to be ${reason}`,
    async () => (await shown(container)).filter((item) => item.reason === reason).length === count,
  )
}

/** The pipes that are there, and no others, are well. */
export async function allWell(container: Container, count: number): Promise<void> {
  let last: Shown['items'] = []
  const wait = until(`${count} pipes to be well`, async () => {
    last = (await shown(container)).filter(({ key }) => key.startsWith('Pipe/'))
    return last.length === count && last.every(({ status }) => status === 'Ready')
  })
  await wait.catch((error: unknown) => {
    const others = last.filter(({ status }) => status !== 'Ready').slice(0, 5)
    throw new Error(`${last.length} pipes, and not well: ${JSON.stringify(others)}`, { cause: error })
  })
}

/** As git-sync asks, with the token in a URL and nothing more. */
export async function webhook(container: Container): Promise<void> {
  const script =
    "const token = require('fs').readFileSync('/etc/pipewright/admin-token/token', 'utf8').trim();" +
    "fetch('http://127.0.0.1:8080/-/reconcile', {method: 'POST', headers: {authorization: 'Basic ' + btoa('git-sync:' + token)}})" +
    '.then((reply) => process.exit(reply.status === 202 ? 0 : 1))'
  const { code, stderr } = await container.exec(['node', '-e', script])
  if (code !== 0) throw new Error(`the webhook was not accepted: ${stderr}`)
}

/** The line of docs/how-to/back-up-and-restore.md that makes a backup while the daemon runs. */
export function backupLine(): string {
  const page = readFileSync(join(ROOT, 'docs/how-to/back-up-and-restore.md'), 'utf8')
  const [, script] =
    /kubectl -n data exec pipewright-0 -- \\\n\s+(node -e '[^\n]*backup[^\n]*') &&\n/.exec(page) ?? []
  if (script === undefined) throw new Error('docs/how-to/back-up-and-restore.md makes no backup')
  return script
}

/** Starts the daemon, which ends at once. @returns its last words */
export async function ends(
  world: PodWorld,
  pod: PodSpec = world.pod,
  root?: string,
): Promise<{ readonly code: number; readonly said: string }> {
  await using daemon = await world.startOther(pod, root)
  let code: number | undefined
  void daemon.ended.then((ended) => (code = ended))
  const settled = () => code !== undefined || daemon.stdout().includes('"Started"')
  await until('the daemon to end', settled)
  if (code === undefined) throw new Error('the daemon runs, and was to end')
  return { code, said: daemon.stderr() }
}
