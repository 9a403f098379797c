import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { ENDPOINT, ANALYTICS } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import { ownError, type FakeRequest } from './support/fake-platform.ts'
import type { Live } from '../support/live.ts'
import { createStory, type Story } from './support/story.ts'
import { WAITS, waitingFor } from './support/waiting.ts'

/* Row 4: an upsert that waits, for its first attempt or for another. What Git no longer asks for is not sent. */

const KEY = 'QueryEndpoint/analytics'
/** Opens the endpoint to everybody. */
const OPEN = ENDPOINT.replace('https://app.example', '"*"')
const CORRECTED = { ...ANALYTICS, serviceId: '3d0e6f51-9b7c-4a25-8d13-5c2f7a9e0b66' }

interface Meanwhile {
  readonly what: string
  readonly change: (story: Story) => void
  /** What the endpoint says once it was reconciled; undefined: it is not there. */
  readonly status: string | undefined
  /** What is sent in the end: origins, and the service. */
  readonly sent: readonly (readonly [origins: string, serviceId: string])[]
}

const MEANWHILE: readonly Meanwhile[] = [
  {
    what: 'corrected it',
    change: ({ workspace }) => workspace.write('manifests/endpoint.yaml', ENDPOINT),
    status: 'Ready',
    sent: [['https://app.example', ANALYTICS.serviceId]],
  },
  {
    what: 'suspended it',
    change({ workspace }) {
      const policy = 'policy: {suspend: {reason: too wide, until: "2099-01-01T00:00:00Z"}}\nspec:'
      workspace.write('manifests/endpoint.yaml', OPEN.replace('spec:', policy))
    },
    status: 'Suspended',
    sent: [],
  },
  {
    what: 'removed it',
    change: ({ workspace }) => rmSync(join(workspace.manifests, 'endpoint.yaml')),
    status: undefined,
    sent: [],
  },
  {
    what: 'broke it',
    change: ({ workspace }) =>
      workspace.write('manifests/endpoint.yaml', OPEN.replace('spec:', 'spec:\n  x: 1')),
    status: 'Invalid',
    sent: [],
  },
  {
    what: 'corrected the serviceId of its Service',
    change: (story) => story.writeService(CORRECTED),
    status: 'Ready',
    sent: [['*', CORRECTED.serviceId]],
  },
]

function upserts({ platform }: Story): readonly FakeRequest[] {
  return platform.requests.filter(({ operation }) => operation === 'upsertQueryEndpoint')
}

/** Origins and service of upserts. */
function sentIn(requests: readonly FakeRequest[]): readonly (readonly [string, string])[] {
  return requests.map(({ text, serviceId = '' }) => {
    const { allowedOrigins } = JSON.parse(text) as { readonly allowedOrigins: string } // it came whole
    return [allowedOrigins, serviceId]
  })
}

async function createEndpointStory(): Promise<Story> {
  const story = await createStory([ANALYTICS, { ...CORRECTED, name: 'corrected' }])
  rmSync(join(story.workspace.manifests, 'service-corrected.yaml'))
  return story
}

async function settles(live: Live, status: string | undefined): Promise<void> {
  if (status !== undefined) await live.says(KEY, status)
  else {
    await until(
      'it to be gone, or an orphan',
      async () => ((await live.resource(KEY))?.status ?? 'Orphaned') === 'Orphaned',
    )
  }
}

const rows = MEANWHILE.flatMap((row) => WAITS.map((wait) => ({ ...row, wait })))

describe.concurrent('row 4: an upsert that opens an endpoint to everybody', () => {
  test.for(rows)(
    'waits, and Git $what: it is not sent ($wait)',
    async ({ change, status, sent, wait }, { expect }) => {
      await using story = await createEndpointStory()
      const { workspace } = story
      const live = await waitingFor(story, wait, () => workspace.write('manifests/endpoint.yaml', OPEN))
      await live.reads(() => change(story))
      expect(upserts(story), 'the change came too late for this test').toEqual([])
      await settles(live, status)
      // Whatever waited has been served when a write after it has gone out.
      story.writePipe('after')
      await until('a later write', () => story.platform.posts('after').length > 0)
      expect(sentIn(upserts(story))).toEqual(sent)
    },
  )

  test.for(MEANWHILE)(
    'is to be tried again after a 503, and Git $what: it is not',
    async (row, { expect }) => {
      await using story = await createEndpointStory()
      const { platform, workspace } = story
      const live = await story.start(['--interval', '1s'])
      const held = Promise.withResolvers<void>()
      platform.decide = ({ operation }) =>
        operation === 'upsertQueryEndpoint' && upserts(story).length === 1
          ? { ...ownError(503), before: () => held.promise }
          : undefined
      workspace.write('manifests/endpoint.yaml', OPEN)
      const first = await until('the first attempt', () => upserts(story)[0])
      await live.reads(() => row.change(story))
      held.resolve()
      await settles(live, row.status)
      const before = upserts(story).length
      story.writePipe('after')
      await live.says('Pipe/after', 'Ready')
      const { id } = platform.world.pipe('after')
      const looks = platform.gets(id).length
      await until('five looks at another', () => platform.gets(id).length >= looks + 5)
      const later = sentIn(upserts(story).filter((request) => request !== first))
      expect(later.slice(0, 1)).toEqual(row.sent)
      expect(new Set(later.map(String)).size).toBeLessThanOrEqual(1)
      // Its own interval is an hour.
      expect(upserts(story).length).toBe(before)
    },
  )
})
