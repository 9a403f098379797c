import { Text, z } from '../kinds/zod.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Profile } from '../kinds/profile.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { readSandboxFile, mapped, optional } from './wire-schema.ts'
import { lowerCaseIds, servicePath } from './stored.ts'
import { newPipe, objectionTo, Incident, Times, type World } from './world.ts'

const Id = z.guid()
const Timestamp = z.iso.datetime({ offset: true })

/** A pipe in a fixture needs no secrets, because replies never show secrets. */
function fixturePipe(dialect: Dialect) {
  return z
    .strictObject({
      ...dialect.pipeShape,
      id: Id,
      organizationId: Id,
      serviceId: Id,
      state: Text.optional().describe('A fixed state. Default: it follows from the time since `createdAt`.'),
      createdAt: Timestamp.optional().describe('Time of the create. Default: when the file is first read.'),
    })
    .superRefine((pipe, context) => {
      const message = objectionTo(dialect, asJson(pipe))
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
}

export function fixtureSchema(profile: Profile) {
  const dialect = dialectOf(profile)
  return z.strictObject({
    services: z
      .array(
        z
          .strictObject({ organizationId: Id, serviceId: Id, state: Text.optional() })
          .refine(
            ({ state }) => state === undefined || dialect.serviceStates.includes(state),
            'this profile has no such service state',
          ),
      )
      .optional()
      .describe(
        'Existing services. Default: every service exists. A service without `state` is `running`. Only some profiles have states.',
      ),
    times: Times.prefault({}).describe(
      'Durations in milliseconds: `provisioningMs` of a new pipe (default 1500), `movingMs` in each intermediate state (1500), `scalingLagMs` until a new size shows (1000), `deletingMs` until a deleted pipe is gone (1500), `listLagMs` until a new pipe is listed (0).',
    ),
    credentials: z
      .array(z.strictObject({ keyId: Text, keySecret: Text }))
      .default([])
      .describe('Accepted API keys, besides the key of the command line.'),
    alertTokens: z
      .array(Text)
      .default([])
      .describe('Accepted tokens for alerts, besides the token of the command line.'),
    alerts: z
      .array(dialect.fixtureAlert)
      .default([])
      .describe("Alerts that exist at the start, each with all fields of the platform's API."),
    pipes: z
      .array(fixturePipe(dialect))
      .default([])
      .describe(
        'Pipes that exist at the start: the body of a create, with `id`, `organizationId`, `serviceId`, and optional `state` and `createdAt`.',
      ),
    endpoints: z
      .array(
        z.strictObject({
          ...mapped(dialect.endpointShape, optional),
          id: Id,
          organizationId: Id,
          serviceId: Id,
        }),
      )
      .default([])
      .describe(
        'Query endpoints that exist at the start: the body of an upsert, with `id`, `organizationId` and `serviceId`.',
      ),
    incidents: z
      .array(Incident)
      .default([])
      .describe(
        'Changes without a request, `afterMs` milliseconds after the create of the `pipe` or `alert`: a `change`, or `vanish`.',
      ),
  })
}
type Fixture = z.infer<ReturnType<typeof fixtureSchema>>
export type FixtureInput = z.input<ReturnType<typeof fixtureSchema>>

/** @throws {SandboxFileError} */
export function readFixture(file: string, profile: Profile): Promise<Fixture> {
  return readSandboxFile(file, fixtureSchema(profile))
}

/** Adds each item only once to a storage, so that later changes survive a restart with the fixture. */
export function applyFixture({ storage, dialect, ...world }: World, fixture: Fixture): void {
  const now = world.now()
  const isNew = (what: string) => storage.putNew('applied', what, true)
  storage.transaction(() => {
    for (const { id, organizationId, serviceId, createdAt, ...body } of fixture.pipes) {
      if (!isNew(`pipe ${id}`)) continue
      const at = createdAt === undefined ? now : Date.parse(createdAt)
      const about = { id, organizationId, serviceId, createdAt: at }
      storage.put('pipe', id, newPipe(dialect, about, asJson(body)))
    }
    for (const { state, ...service } of fixture.services ?? []) {
      if (state === undefined || !isNew(`service ${servicePath(service)}`)) continue
      const ids = lowerCaseIds(service)
      storage.put('service', servicePath(ids), { ...ids, state })
    }
    for (const { organizationId, serviceId, ...body } of fixture.endpoints) {
      const service = { organizationId, serviceId }
      if (!isNew(`endpoint ${servicePath(service)}`)) continue
      const whole = { openApiKeys: [], roles: [], allowedOrigins: '', ...asJson(body) }
      storage.put('endpoint', servicePath(service), { ...service, body: whole })
    }
    for (const alert of fixture.alerts) {
      if (!isNew(`alert ${alert.id}`)) continue
      const { id } = alert
      storage.put('alert', id, { id, createdAt: now, service: '', body: asJson(alert), incidents: [] })
    }
  })
}

function asJson(value: unknown): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value))
  return isObject(plain) ? plain : {}
}
