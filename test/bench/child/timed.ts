/** Times some work of this process, by the wall and by the CPU. */
export async function timed<T>(
  work: () => T | Promise<T>,
): Promise<{ readonly wallMs: number; readonly cpuMs: number; readonly result: T }> {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const result = await work()
  const wallMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return { wallMs, cpuMs: (user + system) / 1_000, result }
}

/** What the harness passed. */
export const INPUT: unknown = JSON.parse(process.argv[2] ?? '')

export function print(value: unknown): void {
  process.stdout.write(JSON.stringify(value))
}
