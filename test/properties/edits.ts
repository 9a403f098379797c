import type { Command } from './commands.ts'
import type { Line } from './lines.ts'
import { nameOfLine, newLine } from './lines.ts'

const EDITS = [
  'edit',
  'undo',
  'flaw',
  'break',
  'mend',
  'remove',
  'restore',
  'fresh',
  'rename',
  'move-file',
  'suspend',
  'on-missing',
  'renamed-from',
  'replaces',
  'depends',
  'unsay',
] as const

/** A command that changes what one manifest says, where it stands, or whether it is there. */
export type Edit = Command & { readonly type: (typeof EDITS)[number] }

export function isEdit(command: Command): command is Edit {
  return EDITS.some((type) => type === command.type)
}

/** @param now ms since the epoch */
export function edit(line: Line, command: Edit, now: number): void {
  switch (command.type) {
    case 'edit':
      line.replicas += 1
      return
    case 'undo':
      line.replicas = 1
      return
    case 'flaw':
    case 'break':
      line.flaw = command.type
      return
    case 'mend':
      line.flaw = undefined
      return
    case 'remove':
    case 'restore':
      line.present = command.type === 'restore'
      return
    case 'fresh': {
      const { file, generation, index } = line
      Object.assign(line, newLine(index), { file, generation: generation + 1 })
      return
    }
    case 'rename':
      if (line.name !== command.to) line.before = nameOfLine(line)
      line.name = command.to
      return
    case 'move-file':
      line.file = command.to
      return
    case 'suspend':
      line.suspendedUntil = now + command.ms
      return
    case 'on-missing':
      line.onMissing = command.says
      return
    case 'renamed-from':
      line.renamedFrom = line.before
      return
    case 'replaces':
      line.replaces = line.before
      return
    case 'unsay':
      line.adopt = undefined
      line.retryCreate = undefined
      line.recreate = undefined
      line.replaces = undefined
      line.renamedFrom = undefined
      return
    case 'depends':
      // Only on a line before it, so that there is no circle.
      line.dependsOn = command.on < command.line ? command.on : undefined
      return
  }
}
