import type { Login } from './credentials.ts'

/** Headers of every request (`spec/api.md` 4 and 5); `Content-Type` goes with a body only. */
export function headersOf(options: {
  readonly login: Login
  readonly userAgent: string
  readonly body: string | undefined
}): Readonly<Record<string, string>> {
  const { login, userAgent, body } = options
  return {
    Authorization: login.authorization.reveal(),
    Accept: 'application/json',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    'User-Agent': userAgent,
  }
}
