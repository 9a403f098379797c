import { describe, expect, test } from 'vitest'
import { type ChangeCell, changeCells } from './change-cells.ts'
import { changeExperiment } from './change-experiment.ts'
import { brokenByChange } from './change-fate.ts'

/** All cells of the matrix of changes for one action; each is a process that fails, between one before it and one after it. */
export function describeChangeMatrix(action: ChangeCell['action']): void {
  describe.concurrent(`the crash matrix of changes: ${action}`, () => {
    const rows = changeCells(action).map(
      (cell) => [`${cell.story}: ${action} ${cell.at}, the ${cell.nth}. time`, cell] as const,
    )
    test.each(rows)('%s', async (_, cell) => {
      const { facts, log } = await changeExperiment(cell)
      const faults = brokenByChange(cell, facts)
      expect(faults, `${JSON.stringify(facts, undefined, 2)}\n${log}`).toEqual([])
    })
  })
}
