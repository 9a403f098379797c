import { readFileSync } from 'node:fs'

/** Times some work of this process and of those that it starts and waits for, by the wall and by the CPU. */
export async function timed<T>(
  work: () => T | Promise<T>,
): Promise<{ readonly wallMs: number; readonly cpuMs: number; readonly result: T }> {
  const cpu = process.cpuUsage()
  const before = cpuOfChildren()
  const startedAt = performance.now()
  const result = await work()
  const wallMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return { wallMs, cpuMs: (user + system) / 1_000 + cpuOfChildren() - before, result }
}

/** Of those that have ended, from Linux' own books, which count in steps of 10 ms. */
function cpuOfChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * 10
}

/** What the harness passed. */
export const INPUT: unknown = JSON.parse(process.argv[2] ?? '')

export function print(value: unknown): void {
  process.stdout.write(JSON.stringify(value))
}
