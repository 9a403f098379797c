import { readFileSync } from 'node:fs'

/*
 * Loaded into the real program by `--import`, so that a test can change its clocks without a change of its code.
 *
 * | variable         | what it does                                                                             |
 * |------------------|------------------------------------------------------------------------------------------|
 * | CLOCK_SHIFT_FILE | the wall clock is that of the machine plus what this file says, in ms; it may change while |
 * |                  | the program runs. Timers and `performance.now()` do not notice, as in life               |
 * | CLOCK_SPEED      | all clocks and timers run so many times as fast: an hour in some minutes                 |
 * | CLOCK_SINCE      | since when (ms since the epoch) the wall clock has run so fast; the start of the process |
 * |                  | unless given. Processes with the same one agree about the time, also one after the other |
 */

const file = process.env['CLOCK_SHIFT_FILE'] ?? ''
const speed = Number(process.env['CLOCK_SPEED'] ?? 1)

const wallNow = Date.now.bind(Date)
const steadyNow = performance.now.bind(performance)
const wallStart = Number(process.env['CLOCK_SINCE'] ?? wallNow())
const steadyStart = steadyNow()
const faster = (start: number, now: number) => start + (now - start) * speed

Date.now = () => faster(wallStart, wallNow()) + (file === '' ? 0 : Number(readFileSync(file, 'utf8')))

if (speed !== 1) {
  performance.now = () => faster(steadyStart, steadyNow())
  const { setTimeout: sleep, setInterval: repeat } = globalThis
  // Only the delay differs; the rest of these functions is kept.
  globalThis.setTimeout = Object.assign(
    (callback: () => void, ms?: number, ...args: []) => sleep(callback, (ms ?? 0) / speed, ...args),
    sleep,
  )
  globalThis.setInterval = Object.assign(
    (callback: () => void, ms?: number, ...args: []) => repeat(callback, (ms ?? 0) / speed, ...args),
    repeat,
  )
}
