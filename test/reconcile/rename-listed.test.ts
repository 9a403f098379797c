import { viewMessage } from '../support/messages.ts'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { given, MINUTE, type Given } from './given.ts'
import { LISTING } from './given-listing.ts'
import { pipe, pipeBodyOf, type PipeOptions } from './manifests.ts'

/* What the list shows of a pipe whose record has no manifest: it may be the one that a new manifest asks for. */

interface Row {
  readonly why: string
  /** What a person makes of the pipe "old" in the console. */
  readonly edited: JsonObject
  readonly fresh?: PipeOptions
  /** Another pipe of the name that is asked for. */
  readonly beside?: boolean
  readonly reasons: readonly [whileMissing: string, onceGone: string]
  readonly posts: number
  readonly isMoved: boolean
}

/** Other than what "old" asked for in all that makes it that pipe. */
const ELSE = { ...pipeBodyOf('else'), name: 'else' }

const ROWS: readonly Row[] = [
  {
    why: 'the name and the body that are asked for: the record moves',
    edited: { ...pipeBodyOf('new'), name: 'new' },
    reasons: ['RenameSuspected', 'Accepted'],
    posts: 1,
    isMoved: true,
  },
  {
    why: 'the name that is asked for, and another body',
    edited: { ...pipeBodyOf('new', { replicas: 3 }), name: 'new' },
    reasons: ['RenameSuspected', 'RenameSuspected'],
    posts: 1,
    isMoved: false,
  },
  {
    why: 'the name and the body that are asked for, beside another pipe of that name',
    edited: { ...pipeBodyOf('new'), name: 'new' },
    beside: true,
    reasons: ['RenameSuspected', 'RenameSuspected'],
    posts: 1,
    isMoved: false,
  },
  {
    why: 'the source and the table that are asked for, under another name',
    edited: { ...pipeBodyOf('new', { replicas: 3 }), name: 'else' },
    reasons: ['RenameSuspected', 'RenameSuspected'],
    posts: 1,
    isMoved: false,
  },
  {
    why: 'the name and the body that are asked for, and policy.replaces: it is a new one',
    edited: { ...pipeBodyOf('new'), name: 'new' },
    fresh: { policy: { replaces: 'Pipe/old' } },
    reasons: ['New', 'InSync'],
    posts: 2,
    isMoved: false,
  },
  {
    why: 'the name and the body that are asked for, and policy.replaces of another one',
    edited: { ...pipeBodyOf('new'), name: 'new' },
    fresh: { policy: { replaces: 'Pipe/other' } },
    reasons: ['RenameSuspected', 'Accepted'],
    posts: 1,
    isMoved: true,
  },
  { why: 'nothing in common', edited: ELSE, reasons: ['New', 'InSync'], posts: 2, isMoved: false },
]

/** A pipe `old` that a person has edited since Pipewright created it. */
async function editedInConsole(edited: JsonObject): Promise<{ readonly world: Given; readonly id: string }> {
  const world = await given({ 'old.yaml': pipe('old') }, { profile: LISTING })
  await world.go('Pipe/old')
  const { remote } = await world.record('Pipe/old')
  await world.clock.advance(MINUTE)
  for (const there of world.platform.pipes.values()) there.body = { ...there.body, ...edited }
  return { world, id: remote?.id ?? '' }
}

describe('a new manifest, where the list shows the pipe of a record without a manifest with', () => {
  test.each(ROWS)('$why', async ({ edited, fresh, beside, reasons, posts, isMoved }) => {
    const { world, id } = await editedInConsole(edited)
    if (beside === true) world.platform.make(SERVICE_ID, { name: 'new', ...pipeBodyOf('new') })
    world.remove('old.yaml')
    world.write('new.yaml', pipe('new', fresh))
    expect((await world.go('Pipe/new')).action.reason).toBe(reasons[0])
    world.readAgain()
    await world.clock.advance(MINUTE)
    const { action } = await world.go('Pipe/new')
    expect(action.reason).toBe(reasons[1])
    expect(world.platform.posts).toHaveLength(posts)
    const record = await world.record(isMoved ? 'Pipe/new' : 'Pipe/old')
    expect([record.remote?.id, record.platformName]).toEqual([id, isMoved ? 'new' : 'old'])
    expect(viewMessage(world.board.get('Pipe/new')).includes('Pipe/old')).toBe(
      reasons[1] === 'RenameSuspected',
    )
  })

  test('the name that is asked for, once the ledger is restored from before a rename and an edit', async () => {
    const { world, id } = await editedInConsole({ ...ELSE, name: 'new' })
    const before = await world.record('Pipe/old')
    world.remove('old.yaml')
    world.write('new.yaml', pipe('new', { topics: 'else' }))
    world.readAgain()
    expect((await world.go('Pipe/new')).movedFrom).toBe('Pipe/old')
    expect(before.remote?.id).toBe(id)
    expect((await world.go('Pipe/new')).action.reason).toBe('InSync')
    expect((await world.record('Pipe/new')).platformName).toBe('new')
    expect(world.platform.posts).toHaveLength(1)
  })
})

test('a new manifest is not created while the list shows the pipe of another manifest under its name', async () => {
  const { world } = await editedInConsole({ name: 'new' })
  world.write('new.yaml', pipe('new'))
  const { action } = await world.go('Pipe/new')
  expect(action.reason).toBe('NameTaken')
  expect(world.platform.posts).toHaveLength(1)
})

test('a pipe that is gone is created again, though the list shows a copy of it under its name', async () => {
  const world = await given({ 'orders.yaml': pipe('orders') }, { profile: LISTING })
  await world.go('Pipe/orders')
  world.write(
    'copy.yaml',
    pipe('copy', { platformName: 'orders', topics: 'orders', policy: { replaces: 'Pipe/orders' } }),
  )
  await world.go('Pipe/copy')
  expect(world.platform.posts).toHaveLength(2)
  await world.clock.advance(60 * MINUTE)
  await world.go('Pipe/orders')
  world.platform.pipes.delete((await world.record('Pipe/orders')).remote?.id ?? '')
  for (let minute = 0; minute < 5; minute += 1) {
    await world.clock.advance(MINUTE)
    await world.go('Pipe/copy')
    await world.go('Pipe/orders')
  }
  expect(world.platform.posts).toHaveLength(3)
})

test('a pipe that is gone is not created again under a name that the list shows on the pipe of another key', async () => {
  const keys = ['Pipe/orders', 'Pipe/other', 'Pipe/third'] as const
  const files = Object.fromEntries(keys.map((key) => [`${key.slice(5)}.yaml`, pipe(key.slice(5))]))
  const world = await given(files, { profile: LISTING })
  for (const key of keys) await world.go(key)
  await world.clock.advance(60 * MINUTE)
  for (const key of keys) await world.go(key)
  const { pipes, posts } = world.platform
  const [gone, renamed] = [...pipes.values()]
  if (gone === undefined || renamed === undefined) throw new Error('there are no pipes')
  pipes.delete(gone.id)
  renamed.body = { ...renamed.body, name: 'orders' }
  let reason: string | undefined
  for (let look = 0; look < 40; look += 1) {
    await world.clock.advance(30_000)
    for (const key of keys) {
      const { action } = await world.go(key)
      if (key === 'Pipe/orders') reason = action.reason
    }
  }
  expect(reason).toBe('NameTaken')
  expect(posts).toHaveLength(3)
})
