import type { SQLInputValue } from 'node:sqlite'
import type { Json, JsonObject } from '../lib/json.ts'
import { type FileUse, openDatabase, transact, undone } from './storage-database.ts'
import {
  type RecordedAnswer,
  type RecordedRequest,
  type Row,
  type StoredAlert,
  type StoredEndpoint,
  type StoredPipe,
  type StoredService,
  toAlert,
  toEndpoint,
  toPipe,
  toRequest,
  toService,
} from './stored.ts'

export interface Storage extends Disposable {
  readonly durable: boolean
  /** All or nothing, durable on return. Cannot be nested. */
  transaction<T>(work: () => T): T
  /** Rolls back, within a transaction. */
  undone<T>(work: () => T): T
  pipe(id: string): StoredPipe | undefined
  /** In order of creation. */
  pipes(): readonly StoredPipe[]
  putPipe(pipe: StoredPipe): void
  removePipe(id: string): boolean
  endpoint(organizationId: string, serviceId: string): StoredEndpoint | undefined
  endpoints(): readonly StoredEndpoint[]
  putEndpoint(endpoint: StoredEndpoint): void
  removeEndpoint(organizationId: string, serviceId: string): boolean
  services(): readonly StoredService[]
  service(organizationId: string, serviceId: string): StoredService | undefined
  putService(service: StoredService): void
  alert(id: string): StoredAlert | undefined
  alerts(): readonly StoredAlert[]
  putAlert(alert: StoredAlert): void
  removeAlert(id: string): void
  /** @returns whether it is new */
  markApplied(what: string): boolean
  /** Of a credential file. Undefined: unknown. */
  rightSecret(name: string): string | undefined
  keepRightSecret(name: string, content: string): void
  /** Keeps the last {@link KEPT_REQUESTS}. @returns the request's number */
  addRequest(request: Omit<RecordedRequest, 'seq' | 'answer'>): number
  answerRequest(seq: number, answer: RecordedAnswer): void
  requests(): readonly RecordedRequest[]
}

export const KEPT_REQUESTS = 100_000

/** @throws Error that names the file, if it cannot be opened or has a newer version */
export function openStorage(file: string | undefined, use: FileUse = 'open'): Storage {
  const database = openDatabase(file, use)
  const one = (sql: string) => {
    const statement = database.prepare(sql)
    return (...values: SQLInputValue[]) => statement.get(...values) as Row | undefined // rows of our own tables
  }
  const many = (sql: string) => {
    const statement = database.prepare(sql)
    return () => statement.all() as unknown as readonly Row[] // rows of our own tables
  }
  const run = (sql: string) => {
    const statement = database.prepare(sql)
    return (...values: SQLInputValue[]) => statement.run(...values)
  }

  const pipe = one('SELECT * FROM pipe WHERE id = ?')
  const pipes = many('SELECT * FROM pipe ORDER BY created_at, rowid')
  const putPipe = run(
    `INSERT INTO pipe (id, organization_id, service_id, created_at, updated_at, body, incidents, internals)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET
       updated_at = excluded.updated_at, body = excluded.body, incidents = excluded.incidents,
       internals = excluded.internals`,
  )
  const removePipe = run('DELETE FROM pipe WHERE id = ?')
  const endpoint = one('SELECT * FROM endpoint WHERE organization_id = ? AND service_id = ?')
  const endpoints = many('SELECT * FROM endpoint ORDER BY rowid')
  const putEndpoint = run(
    `INSERT INTO endpoint (organization_id, service_id, body) VALUES (?, ?, ?)
     ON CONFLICT (organization_id, service_id) DO UPDATE SET body = excluded.body`,
  )
  const removeEndpoint = run('DELETE FROM endpoint WHERE organization_id = ? AND service_id = ?')
  const service = one('SELECT * FROM service WHERE organization_id = ? AND service_id = ?')
  const services = many('SELECT * FROM service ORDER BY rowid')
  const putService = run(
    `INSERT INTO service (organization_id, service_id, state) VALUES (?, ?, ?)
     ON CONFLICT (organization_id, service_id) DO UPDATE SET state = excluded.state`,
  )
  const alert = one('SELECT * FROM alert WHERE id = ?')
  const alerts = many('SELECT * FROM alert ORDER BY rowid')
  const putAlert = run(
    `INSERT INTO alert (id, at, body, incidents, service) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, incidents = excluded.incidents`,
  )
  const removeAlert = run('DELETE FROM alert WHERE id = ?')
  const markApplied = run('INSERT INTO said (what) VALUES (?) ON CONFLICT DO NOTHING')
  const rightSecret = one('SELECT content FROM right_secret WHERE name = ?')
  const keepRightSecret = run('INSERT INTO right_secret (name, content) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const addRequest = run('INSERT INTO request (facts) VALUES (?)')
  const answerRequest = run('UPDATE request SET answer = ? WHERE seq = ?')
  const forgetRequests = run('DELETE FROM request WHERE seq <= ?')
  const requests = many('SELECT * FROM request ORDER BY seq')

  return {
    durable: file !== undefined && use === 'open',
    transaction: (work) => transact(database, work),
    undone: (work) => undone(database, work),
    pipe: (id) => mapRow(pipe(id), toPipe),
    pipes: () => pipes().map(toPipe),
    putPipe(next) {
      const { id, organizationId, serviceId, createdAt, updatedAt, body, incidents, internals = {} } = next
      putPipe(
        id,
        organizationId,
        serviceId,
        createdAt,
        updatedAt,
        text(body),
        text(incidents),
        text(internals),
      )
    },
    removePipe: (id) => removePipe(id).changes > 0,
    endpoint: (organizationId, serviceId) => mapRow(endpoint(organizationId, serviceId), toEndpoint),
    endpoints: () => endpoints().map(toEndpoint),
    putEndpoint({ organizationId, serviceId, body }) {
      putEndpoint(organizationId, serviceId, text(body))
    },
    removeEndpoint: (organizationId, serviceId) => removeEndpoint(organizationId, serviceId).changes > 0,
    services: () => services().map(toService),
    service: (organizationId, serviceId) => mapRow(service(organizationId, serviceId), toService),
    putService({ organizationId, serviceId, state }) {
      putService(organizationId, serviceId, state)
    },
    alert: (id) => mapRow(alert(id), toAlert),
    alerts: () => alerts().map(toAlert),
    putAlert({ id, at, body, incidents, service: its }) {
      const place = its === undefined ? '' : `${its.organizationId}/${its.serviceId}`
      putAlert(id, at, text(body), text(incidents), place)
    },
    removeAlert(id) {
      removeAlert(id)
    },
    markApplied: (what) => markApplied(what).changes > 0,
    rightSecret: (name) => mapRow(rightSecret(name), (row) => row.content),
    keepRightSecret(name, content) {
      keepRightSecret(name, content)
    },
    addRequest(request) {
      const seq = Number(addRequest(JSON.stringify(request)).lastInsertRowid)
      if (seq % 1_000 === 0) forgetRequests(seq - KEPT_REQUESTS)
      return seq
    },
    answerRequest(seq, answer) {
      answerRequest(JSON.stringify(answer), seq)
    },
    requests: () => requests().map(toRequest),
    [Symbol.dispose]: () => database.close(),
  }
}

function mapRow<T>(row: Row | undefined, read: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : read(row)
}

function text(value: JsonObject | readonly Json[]): string {
  return JSON.stringify(value)
}
