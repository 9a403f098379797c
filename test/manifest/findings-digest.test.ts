import { describe, expect, test } from 'vitest'
import { findingsDigest, rememberedIn } from '../../src/contract/findings-digest.ts'
import { finding } from '../telemetry/sample.ts'

/* What a process remembers of the findings that the one before it told. */

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => finding({ file: `${index}.yaml` }))

describe('what was told', () => {
  test('is told from what is new and from what is over, wherever it stands in its file', () => {
    const [kept, gone, fresh] = [
      finding({ file: 'a.yaml' }),
      finding({ file: 'b.yaml' }),
      finding({ file: 'c.yaml' }),
    ]
    const moved = { ...kept, line: 99 }
    const said = rememberedIn(findingsDigest([kept, gone]), [fresh, moved])
    expect(said).toEqual({ known: new Set([moved]), gone: 1 })
  })

  test('is of each by itself up to two hundred; of more, all or none', () => {
    const [few, tooMany] = [many(200), many(201)]
    expect(rememberedIn(findingsDigest(few), few.slice(1))).toMatchObject({
      known: new Set(few.slice(1)),
      gone: 1,
    })
    expect(rememberedIn(findingsDigest(tooMany), tooMany).known.size).toBe(201)
    expect(rememberedIn(findingsDigest(tooMany), tooMany.slice(1))).toEqual({ known: new Set(), gone: 0 })
  })

  test('takes little room, and nothing where there is none', () => {
    expect(findingsDigest(many(10_000)).length).toBeLessThan(3_000)
    expect(findingsDigest(many(200)).length).toBeLessThan(3_000)
    expect(rememberedIn('', [finding()])).toEqual({ known: new Set(), gone: 0 })
    expect(rememberedIn(findingsDigest([]), [])).toEqual({ known: new Set(), gone: 0 })
  })

  test('by a process of an earlier version is not known', () => {
    const digest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    expect(rememberedIn(digest, [finding()])).toEqual({ known: new Set(), gone: 0 })
  })
})
