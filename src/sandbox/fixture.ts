import { z } from '../kinds/zod.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { withoutRequestOnly } from './stored.ts'
import type { Fields } from '../kinds/field-table.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Dialect } from './dialect.ts'
import { dialectOf } from './dialects/dialects.ts'
import { QueryEndpointRequest } from './request-schema.ts'
import { readSandboxFile } from './sandbox-file.ts'
import type { Storage } from './storage.ts'

const Id = z.guid()
const Text = z.string().min(1)
const Timestamp = z.iso.datetime({ offset: true })

/** Secrets are optional: replies never show them. */
function fixturePipe(dialect: Dialect) {
  return z
    .strictObject({
      ...dialect.pipeShape,
      id: Id,
      organizationId: Id,
      serviceId: Id,
      state: Text.optional().describe('Fixed; when absent it follows from the time since `createdAt`.'),
      createdAt: Timestamp.optional().describe('Default: when the file is first read.'),
    })
    .superRefine((pipe, context) => {
      const objection = dialect.objectionTo(asJson(pipe))
      if (objection !== undefined) context.addIssue({ code: 'custom', message: objection })
    })
}

const FixtureEndpoint = QueryEndpointRequest.extend({ id: Id, organizationId: Id, serviceId: Id })

/** Some ms after the creation of its pipe or alert, without a request. */
const Incident = z
  .strictObject({
    pipe: Text.optional().describe('Name or id of a pipe.'),
    alert: Text.optional().describe('Id of an alert.'),
    afterMs: z.int().nonnegative(),
    change: z.record(z.string(), z.json()).optional().describe('A JSON merge patch of the resource.'),
    vanish: z.literal(true).optional().describe('The pipe is gone from then on.'),
  })
  .refine(
    ({ pipe, alert }) => (pipe === undefined) !== (alert === undefined),
    'name either a pipe or an alert',
  )
  .refine(
    ({ change, vanish }) => (change === undefined) !== (vanish === undefined),
    'say either change or vanish',
  )
  .refine(({ alert, vanish }) => alert === undefined || vanish === undefined, 'an alert cannot vanish')
export type Incident = z.infer<typeof Incident>

const Milliseconds = z.int().nonnegative().optional()

/** ms. Options of `createSandbox` take precedence. */
const Times = z.strictObject({
  provisioningMs: Milliseconds,
  movingMs: Milliseconds,
  scalingLagMs: Milliseconds,
  deletingMs: Milliseconds,
  listLagMs: Milliseconds,
})

export function fixtureSchema(profile: Profile) {
  const dialect = dialectOf(profile)
  return z.strictObject({
    services: z
      .array(
        z
          .strictObject({ organizationId: Id, serviceId: Id, state: Text.optional() })
          .refine(
            ({ state }) => state === undefined || dialect.serviceStates.includes(state),
            'this profile has no such state of a service',
          ),
      )
      .optional()
      .describe(
        'The services there are; any when absent. Each is `running`, or in its `state`, where the profile knows that.',
      ),
    times: Times.default({}).describe(
      'How long things take, in milliseconds: `provisioningMs` (1500 unless given), `movingMs` in each state on the way (1500), `scalingLagMs` until a new size shows (1000), `deletingMs` until a deleted pipe is gone (1500), `listLagMs` until a new one is listed (0).',
    ),
    credentials: z
      .array(z.strictObject({ keyId: Text, keySecret: Text }))
      .default([])
      .describe('Accepted API keys, besides the key of the command line.'),
    alertTokens: z
      .array(Text)
      .default([])
      .describe('Accepted tokens for alerts, besides the token of the command line.'),
    alerts: z.array(dialect.alert).default([]).describe('Alerts, each with every field of the interface.'),
    pipes: z
      .array(fixturePipe(dialect))
      .default([])
      .describe(
        'Pipes: the body of a create, with `id`, `organizationId`, `serviceId`, and if wanted `state` and `createdAt`.',
      ),
    endpoints: z
      .array(FixtureEndpoint)
      .default([])
      .describe('Query endpoints: the body of an upsert, with `id`, `organizationId` and `serviceId`.'),
    incidents: z
      .array(Incident)
      .default([])
      .describe(
        'Changes without a request: `afterMs` after its `pipe` or `alert` came to be, a `change` or `vanish`.',
      ),
  })
}
export type Fixture = z.infer<ReturnType<typeof fixtureSchema>>
export type FixtureInput = z.input<ReturnType<typeof fixtureSchema>>

/** @throws {SandboxFileError} */
export function readFixture(file: string, profile: Profile): Promise<Fixture> {
  return readSandboxFile(file, fixtureSchema(profile))
}

/** Once per storage. Later changes survive a second use of the fixture. */
export function applyFixture(
  {
    storage,
    fields,
    dialect,
  }: { readonly storage: Storage; readonly fields: Fields; readonly dialect: Dialect },
  fixture: Fixture,
  now: number,
): void {
  storage.transaction(() => {
    for (const { id, organizationId, serviceId, createdAt, ...body } of fixture.pipes) {
      if (!storage.markApplied(`pipe ${id}`)) continue
      const at = createdAt === undefined ? now : Date.parse(createdAt)
      const kept = withoutRequestOnly(fields, asJson(body))
      storage.putPipe({
        id,
        organizationId,
        serviceId,
        createdAt: at,
        updatedAt: at,
        body: kept,
        incidents: [],
        internals: dialect.changes?.internals(id, asJson(body)),
      })
    }
    for (const { organizationId, serviceId, state } of fixture.services ?? []) {
      if (state === undefined || !storage.markApplied(`service ${organizationId}/${serviceId}`)) continue
      const ids = { organizationId: organizationId.toLowerCase(), serviceId: serviceId.toLowerCase() }
      storage.putService({ ...ids, state })
    }
    for (const { organizationId, serviceId, ...body } of fixture.endpoints) {
      if (!storage.markApplied(`endpoint ${organizationId}/${serviceId}`)) continue
      const whole = { openApiKeys: [], roles: [], allowedOrigins: '', ...asJson(body) }
      storage.putEndpoint({ organizationId, serviceId, body: whole })
    }
    for (const alert of fixture.alerts) {
      if (!storage.markApplied(`alert ${alert.id}`)) continue
      storage.putAlert({ id: alert.id, at: now, body: asJson(alert), incidents: [] })
    }
  })
}

/** Without `undefined`. */
function asJson(value: unknown): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value))
  return isObject(plain) ? plain : {}
}
