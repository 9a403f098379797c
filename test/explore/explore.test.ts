import { describe, expect, test } from 'vitest'
import { createChooser, otherScripts } from './chooser.ts'
import { explore } from './explore.ts'
import { type LatePost, MINUTE } from './model.ts'
import { storyAsText } from './story.ts'
import { WORLDS, type World } from './worlds.ts'

const until = Infinity

function worldOf(name: string): World {
  const world = WORLDS.find((each) => each.name === name)
  if (world === undefined) throw new Error(`there is no world ${name}`)
  return world
}

/** A world in which a pipe comes that nobody knows of: sooner or later there are two. */
function unfair(): World {
  const id = '00000000-0000-4000-8000-000000000077'
  const where = { serviceId: 'x', name: 'a', topics: 'first', madeAt: 0, view: 'seen' } as const
  const pipe = {
    id,
    wish: 0,
    intentId: undefined,
    ...where,
    goneSince: undefined,
    isBeside: false,
    isTold: false,
  }
  const late: LatePost = { pipe, before: 60 * MINUTE }
  const world = worldOf('one')
  return { ...world, meanwhile: 0, begin: () => ({ ...world.begin(), late: [late] }) }
}

describe('the search', () => {
  test('a story with no fault comes before one with a fault, and the shortest of them first', async () => {
    const { story, depth } = await explore(unfair(), { depth: 2, until })
    expect(story?.moves.map(({ step }) => step)).toEqual(['look Pipe/a', 'arrives 0'])
    expect({ cost: story?.cost, depth }).toEqual({ cost: 0, depth: 0 })
  })

  test('a story is told in sentences, each time the same', async () => {
    const world = unfair()
    const { story } = await explore(world, { depth: 0, until })
    if (story === undefined) throw new Error('there is no story')
    const text = await storyAsText(world, story)
    expect(text).toMatch(/^ {2}1\. Pipewright looks at Pipe\/a\.\n/)
    expect(text).toMatch(/ {2}2\. The POST of intent \S+ arrives: pipe 77 is made\.\n {2}=> "a" has 2 pipes/)
    expect(await storyAsText(world, story)).toBe(text)
  })

  test('more faults, more situations; and when the time is over, it says so', async () => {
    const [none, one] = [0, 1].map((depth) => explore(worldOf('renamings'), { depth, until }))
    expect((await none)?.situations).toBeLessThan((await one)?.situations ?? 0)
    expect(await explore(worldOf('renamings'), { depth: 1, until: 0 })).toMatchObject({
      stopped: 'time',
      depth: -1,
    })
  })
})

describe('choices', () => {
  const options = [
    { name: 'usual', cost: 0 },
    { name: 'fault', cost: 1 },
    { name: 'other', cost: 0 },
  ]

  test('every way through two choices is taken once', () => {
    const taken: string[] = []
    const scripts: (readonly number[])[] = [[]]
    for (let script = scripts.pop(); script !== undefined; script = scripts.pop()) {
      const chooser = createChooser(script)
      taken.push(`${chooser.choose(options)} ${chooser.choose(options)}`)
      scripts.push(...otherScripts(chooser, script.length, 2))
    }
    expect(taken).toHaveLength(9)
    expect(new Set(taken).size).toBe(9)
  })

  test('what costs more than is left is not taken', () => {
    const chooser = createChooser([1])
    chooser.choose(options)
    chooser.choose(options)
    expect(otherScripts(chooser, 1, 1)).toEqual([[1, 2]])
  })
})
