import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { watch } from '../../src/cli/commands/status-command.ts'
import type { StatusReading } from '../../src/cli/reading.ts'
import { NoAnswerError } from '../../src/cli/server-client.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const reading = (problem?: string): StatusReading => ({
  now: 0,
  daemon: { state: 'running', last: undefined },
  whole: { problem },
  resources: [],
})
const SILENT = new NoAnswerError('silent', false)

/** What is printed of readings that come every two seconds, until the output is closed or a signal comes. */
async function watched(
  readings: readonly (StatusReading | Error)[],
  { inPlace = false, isClosed = false, isLate = false } = {},
) {
  const clock = createFakeClock()
  const stdout = new PassThrough({ encoding: 'utf8' })
  const stop = new AbortController()
  const left = [...readings]
  let looks = 0
  const read = async () => {
    looks += 1
    const next = left.shift() ?? new Error('there is no more')
    if (isLate && left.length === 0) stop.abort()
    if (next instanceof Error) throw next
    return next
  }
  const show = ({ whole }: StatusReading) => void stdout.write(`${whole.problem}\n`)
  const io = {
    stdout,
    stderr: stdout,
    env: {},
    clock,
    stop: { stopping: stop.signal, forced: stop.signal, onHangup: () => undefined },
  }
  const ended = watch(io, { read, inPlace, show }).then(
    (code) => ({ code }),
    (error: unknown) => ({ error }),
  )
  await clock.advance(2_000 * (readings.length - 1))
  expect(looks).toBe(readings.length)
  if (isClosed) stdout.emit('error', new Error('EPIPE'))
  else stop.abort()
  return { ...(await ended), text: String(stdout.read() ?? '') }
}

const [A, B] = [reading('a'), reading('b')]
const CLEAR = '\u001b[H\u001b[2J\u001b[3J'
const BACK = 'The daemon answers again.\n'

test.each<{
  is: string
  readings: readonly (StatusReading | Error)[]
  options?: Parameters<typeof watched>[1]
  text: string
  end?: object
}>([
  { is: 'changes', readings: [A, A, B, B], text: 'a\nb\n' },
  {
    is: 'changes, on a terminal',
    readings: [A, A, B],
    options: { inPlace: true },
    text: `${CLEAR}a\n${CLEAR}a\n${CLEAR}b\n`,
  },
  { is: 'a silence', readings: [A, SILENT, SILENT, A, A], text: `a\nsilent\n${BACK}` },
  {
    is: 'a silence, on a terminal',
    readings: [A, SILENT, SILENT, A],
    options: { inPlace: true },
    text: `${CLEAR}a\n${CLEAR}silent\n${CLEAR}silent\n${CLEAR}a\n`,
  },
  { is: 'a silence from the beginning', readings: [SILENT], text: '', end: { error: SILENT } },
  { is: 'another error', readings: [A, new Error('other')], text: 'a\n', end: { error: new Error('other') } },
  { is: 'an output that is closed', readings: [A, A], options: { isClosed: true }, text: 'a\n' },
  { is: 'a stop in a look', readings: [A, B], options: { isLate: true }, text: 'a\n' },
  {
    is: 'a stop in a look that fails',
    readings: [A, new Error('cut')],
    options: { isLate: true, inPlace: true },
    text: `${CLEAR}a\n`,
  },
])('status --watch prints $is', async ({ readings, options, text, end = { code: 0 } }) => {
  expect(await watched(readings, options)).toEqual({ ...end, text })
})
