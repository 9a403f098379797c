import { describe, expect, test } from 'vitest'
import { sameJson } from '../../src/lib/json.ts'
import { startWithBody, type PipeAsker } from './ask.ts'
import { clearingsOf, editsOf, type Edit } from './edits-of.ts'
import { FACTS } from './facts.ts'
import { clientFindings, GIVEN, givenNamed, wireBody } from './given.ts'
import { at, inOrder, textOf } from './look.ts'
import { withRefs } from './refs.ts'

/* The edits that others try their client with: each can be made with the requests that come with it, and makes what it says. */

const bodies = GIVEN.filter(({ manifest }) => manifest.kind === 'Pipe').map(({ title, manifest }) => ({
  title,
  manifest,
  body: wireBody(manifest),
  edits: editsOf(wireBody(manifest)),
}))

/** As the edit would be made by hand. */
function make({ requests }: Edit, world: PipeAsker): void {
  for (const { method, path, body, whenPaused } of requests) {
    if (whenPaused) paused(world)
    expect(world.askPipe(method, path, body)).toMatchObject({ status: 200 })
  }
}

function paused({ askPipe, id, server }: PipeAsker): void {
  expect(server.states().get(id)).toBe('Running')
  askPipe('GET', '')
  askPipe('GET', '')
  expect(server.states().get(id)).toBe('Paused')
}

describe('every edit is taken, and makes what it asks for', () => {
  test.each(bodies)('$title', ({ body, edits }) => {
    const changes = edits.filter(({ requests }) => requests.length > 0)
    for (const edit of changes) {
      const world = startWithBody(body)
      make(edit, world)
      const seen = world.server.seen()
      expect({ field: edit.field, refused: seen.flatMap(({ refused }) => refused) }).toEqual({
        field: edit.field,
        refused: [],
      })
      expect(seen.flatMap(({ dropped }) => dropped)).toEqual([])
      const now = inOrder(world.body())
      expect({ field: edit.field, isAsAsked: sameJson(now, inOrder(edit.after)), now }).toMatchObject({
        field: edit.field,
        isAsAsked: true,
      })
    }
    expect(changes.length).toBeGreaterThan(0)
  })
})

describe('there is an edit', () => {
  const edits = bodies.flatMap((pipe) => pipe.edits)

  /** What takes one word alone has no other. */
  const rows = FACTS.filter(({ words }) => words?.length !== 1)

  test('of every field of the facts', () => {
    const edited = new Set(edits.map(({ field }) => field))
    expect(rows.map(({ field }) => field).filter((field) => !edited.has(field))).toEqual([])
    expect(FACTS.length - rows.length).toBe(3)
  })

  test('of every field that changes, with requests, and of no other', () => {
    const asked = new Set(edits.filter(({ requests }) => requests.length > 0).map(({ field }) => field))
    const changing = rows.filter(({ change }) => change !== 'immutable').map(({ field }) => field)
    expect(new Set(changing).symmetricDifference(asked)).toEqual(new Set())
  })

  test('that takes a field away, and with it nothing that is needed', () => {
    const clearings = bodies.flatMap(({ body }) => clearingsOf(body))
    expect(clearings.length).toBeGreaterThan(10)
    expect(clearings.filter(({ before, after }) => sameJson(before, after))).toEqual([])
  })
})

describe('an edited body as a manifest has it', () => {
  test.each(bodies)('is one that the client takes: $title', ({ body, edits, manifest }) => {
    const found = [...edits, ...clearingsOf(body)].flatMap(({ field, after }) => {
      const spec = { service: manifest.spec.service, ...withRefs(after).spec }
      return clientFindings('Pipe', { ...manifest, spec }).map((finding) => `${field}: ${finding}`)
    })
    expect(found).toEqual([])
  })

  test.each(bodies)('has no secret in it: $title', ({ edits }) => {
    for (const { after } of edits) {
      const { spec, secrets } = withRefs(after)
      const texts = FACTS.filter(({ isSecret }) => isSecret).flatMap(({ field }) => at(after, field) ?? [])
      expect(secrets.map(({ text }) => text).toSorted(inText)).toEqual(texts.map(textOf).toSorted(inText))
      expect(FACTS.filter(({ field, isSecret }) => isSecret && typeof at(spec, field) === 'string')).toEqual(
        [],
      )
    }
  })

  test('refers to what the client can look up', () => {
    const { spec, secrets } = withRefs(wireBody(givenNamed('customers')))
    expect(at(spec, 'source.postgres.credentials.password')).toEqual({
      secretRef: { name: secrets[0]?.name, key: secrets[0]?.key },
    })
    expect(secrets[0]?.text).toBe('planted-text')
  })
})

function inText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
