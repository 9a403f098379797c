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

const { CLOCK_SHIFT_FILE: file, CLOCK_SPEED: speed = '1', CLOCK_SINCE: since } = process.env

if (speed !== '1') hasten(Number(speed), since === undefined ? undefined : Number(since))

if (file !== undefined) {
  const now = Date.now
  Date.now = () => now() + Number(readFileSync(file, 'utf8'))
}

/** From now on the clocks and timers of this process run so many times as fast. @param wallSince when the wall clock began to, ms since the epoch */
function hasten(factor: number, wallSince = Date.now()): void {
  const { setTimeout: sleep, setInterval: repeat } = globalThis
  const wallNow = Date.now
  const steadyNow = performance.now.bind(performance)
  const steadySince = performance.now()
  Date.now = () => wallSince + (wallNow() - wallSince) * factor
  performance.now = () => steadySince + (steadyNow() - steadySince) * factor
  // Only the delay differs; the rest of these functions is kept.
  globalThis.setTimeout = Object.assign(
    (callback: () => void, ms?: number, ...args: []) => sleep(callback, (ms ?? 0) / factor, ...args),
    sleep,
  )
  globalThis.setInterval = Object.assign(
    (callback: () => void, ms?: number, ...args: []) => repeat(callback, (ms ?? 0) / factor, ...args),
    repeat,
  )
}
