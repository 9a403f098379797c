import { describe, test } from 'vitest'
import { until } from '../support/until.ts'
import { createAuthority } from './support/authority.ts'
import { untilStill } from './support/still.ts'
import { createStory } from './support/story.ts'
import { createWire, mayWire } from './support/wire.ts'
import { pipeManifest } from '../support/manifests.ts'

/*
 * Row 8, the network: a link goes down when the connection of a create is made and none of its bytes is sent. When it comes
 * up again, long after the create was given up, the platform must not see it. It takes root and `ip netns`.
 */

const MINUTE_MS = 60_000

/** So many columns that the body is larger than what the kernel takes at once. */
const MANY = 2_500

function manyColumns(key: string): string {
  const names = Array.from({ length: MANY }, (_, index) => `column_${String(index).padStart(6, '0')}`)
  const columns = names.map((name) => `{name: ${name}, type: UInt64}`).join(', ')
  const mappings = names.map((name) => `{sourceField: ${name}, destinationField: ${name}}`).join(', ')
  return pipeManifest(key)
    .replace(/columns: \[.*?\]/, `columns: [${columns}]`)
    .replace(/fieldMappings: \[.*?\]/, `fieldMappings: [${mappings}]`)
}

const CUTS = [
  { what: 'a small body', secure: false, text: pipeManifest('orders') },
  { what: 'a small body under TLS', secure: true, text: pipeManifest('orders') },
  { what: 'a body larger than the send buffer', secure: false, text: manyColumns('orders') },
  { what: 'a body larger than the send buffer, under TLS', secure: true, text: manyColumns('orders') },
] as const

describe.skipIf(!mayWire()).concurrent('row 8: a wire that is cut in the middle of a create', () => {
  test.for(CUTS)('$what: the kernel delivers nothing of it later', async ({ secure, text }, { expect }) => {
    using wire = createWire()
    using authority = secure ? createAuthority(wire.host) : undefined
    const tls = authority === undefined ? {} : { tls: authority }
    await using story = await createStory({ host: wire.host, ...tls })
    const { platform } = story
    const trust = authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority.file }
    const settings = ['--allow-insecure-http', '--listen', `${wire.inside}:0`, '--interval', '1s']
    story.workspace.write('manifests/orders.yaml', text)
    const live = await story.start([...settings, '--request-timeout', '2s'], {
      env: { PIPEWRIGHT_FAILPOINT: 'after-connect=pause', ...trust },
      through: wire.through,
    })
    await untilStill(live.program.pid)
    const port = await until('it to arrive', () => platform.connections[0])
    wire.cut()
    live.program.signal('SIGCONT')
    const unknown = await live.says('Pipe/orders', 'OutcomeUnknown')
    expect(unknown.message).toContain('pipewright resolve Pipe/orders --retry')
    expect(platform.requests()).toEqual([])

    wire.mend()
    await until('the kernel to hold nothing of it', () => {
      const sockets = wire.sending(port)
      if (sockets.length > 0) throw new Error(sockets.join('\n'))
      return true
    })
    expect(story.posts()).toEqual([])

    // Too early: the time is told, and what --force risks.
    await live.stop()
    const resolve = ['resolve', 'Pipe/orders', '--retry', '--allow-insecure-http']
    const early = await story.run([...resolve, '--request-timeout', '100ms'])
    expect(early.code).toBe(1)
    expect(early.stderr).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d/)
    expect(early.stderr).toContain('--force')

    const late = await story.runAhead(resolve, 3 * MINUTE_MS)
    expect(late.stderr).toBe('')
    // Patient: the platform is in the process of this test, which is busy with the tests beside it.
    const patience = ['--request-timeout', '60s', '--shutdown-grace', '65s']
    const next = await story.start([...settings, ...patience], { env: trust, through: wire.through })
    await next.says('Pipe/orders', 'Ready')
    expect(story.posts()).toHaveLength(1)
    expect(platform.pipes()).toHaveLength(1)
  })
})
