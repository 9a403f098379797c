import { basesOfArea } from '../corpus/load.ts'

/* Manifests that tests begin with: right, until a place of them is changed. */

export const { pipe: PIPE = '', endpoint: ENDPOINT = '' } = basesOfArea('hints')

export const SERVICE = `apiVersion: pipewright/v1
kind: Service
metadata:
  name: analytics
spec:
  organizationId: 3f6d1c52-8a07-4e1b-9c44-5b1e0d7a2f90
  serviceId: 9b2e4d10-6c3f-4a8e-8f51-0d7c9e1a4b21
  credentials: { secretRef: { name: analytics-api } }
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
