import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/process.ts'

const PAGE = readFileSync(join(ROOT, 'docs/reference/runbook.md'), 'utf8')

/** What a command line begins with. Our own name and those of Kubernetes alone are names, and no commands. */
const COMMAND =
  /^(?:(?:pipewright|kubectl|helm|docker|npx|git|curl|kill|sysctl|ulimit) \S|df\b|grep\b|ls\b|cd\b)/

/** Every command line of the runbook, without what stands behind it as a comment; each once. */
export function commandsOfRunbook(): readonly string[] {
  const code = [...PAGE.matchAll(/```sh\n([\s\S]*?)```|`([^`\n]+)`/g)].map(
    ([, block, span = '']) => block ?? span,
  )
  const lines = code.flatMap((text) => text.replaceAll(/ *\\\n\s*/g, ' ').split('\n'))
  const commands = lines.map((line) => line.replace(/ {2,}#.*$/, '').trim())
  return [...new Set(commands.filter((line) => COMMAND.test(line)))]
}

/** The manifest of a pod that only mounts the claim. */
export function podOfRunbook(): string {
  return readFileSync(join(ROOT, 'docs/ledger-pod.yaml'), 'utf8')
}

/** A line as a shell splits it. */
export function wordsOf(line: string): readonly string[] {
  const printed = execFileSync('sh', ['-c', String.raw`printf '%s\0' ${line}`], { encoding: 'utf8' })
  return printed.split('\0').slice(0, -1)
}

/** What `kubectl exec` runs in which container of which pod, and the file that it reads from, if any. */
interface Exec {
  readonly pod: string
  readonly container: string | undefined
  readonly command: readonly string[]
  readonly stdin: string | undefined
}

/** @throws when it is not of the form `kubectl [-n NAMESPACE] exec [-i] [-n NAMESPACE] POD [-c CONTAINER] -- COMMAND [< FILE]` */
export function parseExec(line: string): Exec {
  const form =
    /^kubectl(?: -n \S+)? exec(?<interactive> -i)?(?: -n \S+)? (?<pod>\S+)(?: -c (?<container>\S+))? -- (?<command>.+?)(?: < (?<stdin>\S+))?$/
  const { groups } = form.exec(line) ?? {}
  if (groups === undefined) throw new Error(`not of the form of "kubectl exec": ${line}`)
  const { pod = '', container, command = '', stdin, interactive } = groups
  if ((stdin === undefined) !== (interactive === undefined)) throw new Error(`-i goes with a file: ${line}`)
  return { pod, container, command: wordsOf(command), stdin }
}
