const CLOCKS = new URL('../clock-shift.ts', import.meta.url).href

/** The environment of a program of which all clocks and timers run `speed` times as fast as those of the machine. */
export function fastClocks(speed: number): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${CLOCKS}`, CLOCK_SPEED: String(speed) }
}
