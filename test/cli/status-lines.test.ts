import { expect, test } from 'vitest'
import { statusText } from '../../src/cli/render/status-text.ts'

test.each([
  [0, []],
  [
    7,
    [
      'Pipes in no Lock: 7. If the ledger is lost, Pipewright might create them again. Run "pipewright lock", and commit its output. If a Lock has another id for a pipe, first find out which id is right.',
    ],
  ],
])('with %i pipes that are in no Lock, status says so in a line', (withoutLock, lines) => {
  const text = statusText(
    { now: 0, daemon: { state: 'never', last: undefined }, whole: { withoutLock }, resources: [] },
    {
      now: 0,
      paint: (_, said) => said,
      width: 999,
      form: 'text',
      here: { typed: ['--server http://x'] },
      nothing: '',
    },
  )
  expect(text.split('\n').slice(1)).toEqual([...lines, '', ''])
})

const DAY = 86_400_000

test.each([
  ['of a daemon that runs', 'running', {}, 'Revision 4faf373abc came 3d ago; no other one since.'],
  ['of one that is away and cannot know', 'died', {}, 'Revision 4faf373abc came 3d ago.'],
  [
    'of one that cannot read what is there',
    'running',
    { problem: 'It is empty.' },
    'Revision 4faf373abc came 3d ago.',
  ],
] as const)('since when the revision is there, %s', (_, state, whole, line) => {
  const revision = '4faf373abc4faf373abc4faf373abc4faf373abc'
  const last = { command: 'run', startedAt: 0, revision } as const
  const text = statusText(
    { now: 3 * DAY, daemon: { state, last }, whole: { ...whole, revisionSince: 0 }, resources: [] },
    {
      now: 3 * DAY,
      paint: (_style, said) => said,
      width: Infinity,
      form: 'text',
      here: {},
      nothing: 'Nothing.',
    },
  )
  expect(text.split('\n')).toContain(line)
})
