import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GOOD, HELMS, overlay, tryValues } from './chart.ts'

/** Values on top of those of a chart that works, and words of why they are refused. */
export interface BadValues {
  readonly why: string
  readonly values: object
  readonly says: readonly string[]
}

/** Each of these is refused by each Helm. */
export function testRefusals(rows: readonly BadValues[]): void {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pipewright-chart-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  describe.each(HELMS)('%s', (helm) => {
    test.each(rows)('$why', async ({ values, says }) => {
      const { code, stdout, stderr } = await tryValues(folder, overlay(GOOD, values), { helm })
      expect(code).not.toBe(0)
      expect(stdout).toBe('')
      for (const words of says) expect(stderr).toContain(words)
    })
  })
}
