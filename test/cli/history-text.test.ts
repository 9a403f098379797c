import { expect, test } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { historyText } from '../../src/cli/commands/history-command.ts'

const plain = (_style: unknown, text: string) => text
const AT = Date.UTC(2026, 10, 1, 12)
const SAID =
  'Pipe 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d was created, in a sentence that a narrow terminal has no room for.'

const about = { key: 'Pipe/orders', at: AT, revision: '', requestId: undefined } as const
const ENTRIES: readonly HistoryEntry[] = [
  { ...about, type: 'condition', condition: 'Synced', status: 'True', reason: 'InSync', message: SAID },
  { ...about, type: 'action', action: 'create', reason: 'New', result: 'done', message: SAID },
]

function shown(width: number): readonly string[] {
  return historyText(ENTRIES, { paint: plain, width, form: 'text' }).split('\n')
}

test('a history has a line an entry, whole where nobody says how wide it may be', () => {
  expect(shown(Infinity)).toEqual([
    'TIME                  RESOURCE     WHAT                 MESSAGE',
    `2026-11-01T12:00:00Z  Pipe/orders  Synced=True: InSync  The platform reports what the manifest asks for.`,
    `2026-11-01T12:00:00Z  Pipe/orders  create New: done     ${SAID}`,
  ])
  expect(shown(120)[2]).toMatch(/^.{119}…$/)
})

test('on a narrow terminal a message stands below its line, whole, and once', () => {
  expect(shown(80)).toEqual([
    '2026-11-01T12:00:00Z  Pipe/orders  Synced=True: InSync',
    '2026-11-01T12:00:00Z  Pipe/orders  create New: done',
    '    Pipe 9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d was created, in a sentence that a',
    '    narrow terminal has no room for.',
  ])
})
