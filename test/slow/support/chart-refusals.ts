import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GOOD, HELMS, overlay, tryValues } from './chart.ts'

/** By why they are refused: values on top of those of a chart that works, and words of the refusal. */
type Rows = Readonly<Record<string, readonly [values: object, ...says: readonly string[]]>>

/** Each of these is refused by each Helm. @param yaml `Rows` */
export function testRefusals(yaml: string): void {
  const rows = Object.entries(parse(yaml) as Rows)
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pipewright-chart-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  describe.each(HELMS)('%s', (helm) => {
    test.each(rows)('%s', async (_, [values, ...says]) => {
      const { code, stdout, stderr } = await tryValues(folder, overlay(GOOD, values), { helm })
      expect(code).not.toBe(0)
      expect(stdout).toBe('')
      for (const words of says) expect(stderr).toContain(words)
    })
  })
}
