import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { runCommand } from '../child.ts'
import { inTurns, type Row } from '../row.ts'

/** The size that design §13 speaks of. */
const SIZE = 1_000

/** A whole `validate`, as a commit hook or a pull request runs it: the process starts, says what is wrong, and ends. */
export const validate: Row = {
  name: 'validate',
  what: 'validate, the whole process, the bundle',
  floor: 'kubeconform with our JSON Schema on the same files',
  unit: 'ms',
  rule: { how: 'times', target: 3 },
  needs: ['kubeconform'],
  onlyAt: (size) => size === SIZE,
  async measure({ command, tree, work }, run) {
    const schema = join(work, 'schema.json')
    writeFileSync(schema, execFileSync(process.execPath, [command, 'schema']))
    const [floor, subject] = await inTurns(
      run,
      () => runCommand('kubeconform', ['-schema-location', schema, '-summary', tree.dir], work),
      () => runCommand(process.execPath, [command, 'validate', tree.dir], work),
    )
    const faults: string[] = []
    if (!floor.stdout.includes(`Valid: ${tree.manifests}, `)) faults.push(`kubeconform: ${floor.stdout}`)
    if (!subject.stdout.includes(`${tree.manifests} manifests, no findings`)) faults.push(subject.stdout)
    return {
      floor: floor.wallMs,
      subject: subject.wallMs,
      notes: { 'CPU, times': subject.cpuMs / floor.cpuMs, 'CPU, ms': subject.cpuMs },
      faults,
    }
  },
}
