import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox-server.ts'
import { ALERT, ALERTS_TOKEN, CREDENTIAL, ORGANIZATION, SERVICE_ID } from './manifests.ts'

/** The sandbox, and in it what the manifests of tests refer to: a service with its key, and an alert. */
export function startPlatform({ fixture, ...options }: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  return createSandbox({
    credentials: [CREDENTIAL],
    alertTokens: [ALERTS_TOKEN],
    fixture: {
      alerts: [ALERT],
      services: [{ organizationId: ORGANIZATION, serviceId: SERVICE_ID }],
      ...fixture,
      // Its pipes are there at once: one on its way is asked for again and again, which is a test of its own.
      times: { provisioningMs: 0, ...fixture?.times },
    },
    ...options,
  })
}
