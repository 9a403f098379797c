import { readFileSync } from 'node:fs'

/*
 * Loaded into the real program by `--import`: its wall clock is that of the machine plus what a file says, in ms, so
 * that a test can let it jump while the program runs. Timers and `performance.now()` do not notice, as in life.
 */

const file = process.env['CLOCK_SHIFT_FILE'] ?? ''
const machineNow = Date.now.bind(Date)

Date.now = () => machineNow() + Number(readFileSync(file, 'utf8'))
