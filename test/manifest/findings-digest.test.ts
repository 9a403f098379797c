import { describe, expect, test } from 'vitest'
import { digestsOf, findingsDigest, reportedIn } from '../../src/contract/activity.ts'
import { finding } from '../telemetry/sample.ts'

/* What a process remembers of the findings that the one before it told. */

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => finding({ file: `${index}.yaml` }))

describe('what was told', () => {
  test('is of each by itself, wherever it stands in its file', () => {
    const [kept, gone] = [finding({ file: 'a.yaml' }), finding({ file: 'b.yaml' })]
    const moved = { ...kept, line: 99 }
    const said = reportedIn(findingsDigest([kept, gone]), [moved])
    expect(said).toEqual(new Set(digestsOf([moved, gone])))
    expect(digestsOf([kept, moved])[1]).not.toBe(digestsOf([kept])[0])
  })

  test('is of more than two hundred all or none', () => {
    const [few, tooMany] = [many(200), many(201)]
    expect(reportedIn(findingsDigest(few), few.slice(1)).size).toBe(200)
    expect(reportedIn(findingsDigest(tooMany), tooMany).size).toBe(201)
    expect(reportedIn(findingsDigest(tooMany), tooMany.slice(1)).size).toBe(0)
  })

  test('takes little room, and nothing where there is none', () => {
    expect(findingsDigest(many(10_000)).length).toBeLessThan(3_000)
    expect(findingsDigest(many(200)).length).toBeLessThan(3_000)
    expect(reportedIn('', [finding()]).size).toBe(0)
    expect(reportedIn(findingsDigest([]), []).size).toBe(0)
  })
})
