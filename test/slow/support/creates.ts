import type { Sandbox } from '../../../src/sandbox/sandbox-server.ts'

export function creates(platform: Sandbox): number {
  return platform.requests().filter(({ operation }) => operation === 'createPipe').length
}
