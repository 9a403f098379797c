import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSource } from '../../src/manifest/source.ts'
import { documents, never, pipe, service, temporaryFolder } from './support.ts'

const NOTHING = new Map()
const DOUBT = { accept: 'normal' } as const

describe('a source', () => {
  test('says which keys changed, appeared or became gone, and stays quiet otherwise', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', documents(service('analytics'), pipe('a'), pipe('b')))
    const source = createSource({ profile: DEFAULT, root: folder.path })
    const load = () => source.load(NOTHING, DOUBT, never)
    const first = await load()
    expect(first).toMatchObject({ changed: ['Pipe/a', 'Pipe/b', 'Service/analytics'], differs: true })
    expect(first.state.counts).toEqual({ Service: 1, Pipe: 2, QueryEndpoint: 0, Alert: 0, Lock: 0 })
    expect(await load()).toMatchObject({ changed: [], differs: false })
    folder.write('a.yaml', documents(service('analytics'), pipe('a', { topics: 'x' }), pipe('b')))
    expect(await load()).toMatchObject({ changed: ['Pipe/a'], differs: true })
    folder.write(
      'a.yaml',
      documents(service('analytics'), pipe('a', { topics: 'x' }), pipe('b').replace('b:9092', '"')),
    )
    expect(await load()).toMatchObject({ changed: ['Pipe/b'], differs: true })
    folder.write('a.yaml', documents(service('analytics'), pipe('b')))
    const changes = [await load(), await load(), await load(), await load()].map(({ changed }) => changed)
    expect(changes).toEqual([['Pipe/a', 'Pipe/b'], [], ['Pipe/a'], []])
  })

  test('a root that goes away and comes back changes nothing', async () => {
    using folder = temporaryFolder()
    folder.write('m/a.yaml', service('analytics'))
    const source = createSource({ profile: DEFAULT, root: join(folder.path, 'm') })
    await source.load(NOTHING, DOUBT, never)
    renameSync(join(folder.path, 'm'), join(folder.path, 'n'))
    const away = await source.load(NOTHING, DOUBT, never)
    expect(away).toMatchObject({
      changed: [],
      differs: true,
      state: { catalog: { problem: { reason: 'SourceUnreadable' } } },
    })
    renameSync(join(folder.path, 'n'), join(folder.path, 'm'))
    const back = await source.load(NOTHING, DOUBT, never)
    expect([back.changed, back.state.catalog.problem]).toEqual([[], undefined])
  })

  test('a load that was stopped does not keep the next from running', async () => {
    using folder = temporaryFolder()
    folder.write('a.yaml', service('analytics'))
    const source = createSource({ profile: DEFAULT, root: folder.path })
    await expect(source.load(NOTHING, DOUBT, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
    expect((await source.load(NOTHING, DOUBT, never)).changed).toEqual(['Service/analytics'])
  })
})
