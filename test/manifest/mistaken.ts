/* The manifests that the table of mistakes begins with: right, until one place of them is changed. */

export const PIPE = `apiVersion: pipewright/v1
kind: Pipe
metadata:
  name: orders
  labels: { team: payments }
policy:
  interval: 10m
  dependsOn:
    - Alert/ingest-lag
spec:
  service: analytics
  source:
    kafka:
      brokers: b-1.example:9092,b-2.example:9092
      topics: orders
      credentials:
        username: { secretRef: { name: kafka, key: username } }
        password:
          secretRef:
            name: kafka
            key: password
  destination:
    database: shop
    table: orders
    columns:
      - name: id
        type: UUID
      - { name: amount, type: Int64 }
  fieldMappings:
    - sourceField: id
      destinationField: id
    - { sourceField: amount, destinationField: amount }
  scaling:
    replicas: 2
`

export const SERVICE = `apiVersion: pipewright/v1
kind: Service
metadata:
  name: analytics
spec:
  organizationId: 3f6d1c52-8a07-4e1b-9c44-5b1e0d7a2f90
  serviceId: 9b2e4d10-6c3f-4a8e-8f51-0d7c9e1a4b21
  credentials: { secretRef: { name: analytics-api } }
`

export const ENDPOINT = `apiVersion: pipewright/v1
kind: QueryEndpoint
metadata:
  name: analytics
policy:
  interval: 1h
spec:
  service: analytics
  roles: [sql_console_read_only]
  openApiKeys:
    - key-1
    - key-2
  allowedOrigins: https://a.example,https://b.example
`

export const ALERT = `apiVersion: pipewright/v1
kind: Alert
metadata:
  name: ingest-lag
policy:
  healthyStates: [OK]
spec:
  id: 66d0f1a2b3c4d5e6f7a8b9c2
  expect:
    name: Lag
    threshold: 60
    channel: { type: webhook, webhookId: hook-1 }
`

export const TWO = `${SERVICE}---\n${ALERT}`

/** One mistake: a place of a right manifest, and what it became. */
export interface Mistake {
  readonly why: string
  /** `PIPE` unless given. */
  readonly base?: string
  readonly from: string
  readonly to: string
  /** `severity code line:column` of the one thing that is said. */
  readonly said: string
  /** All of the hint. */
  readonly hint: string
}

/** @throws where the place is not there */
export function withMistake({ base = PIPE, from, to }: Pick<Mistake, 'base' | 'from' | 'to'>): string {
  if (!base.includes(from)) throw new Error(`there is no ${from}`)
  return base.replace(from, () => to)
}
