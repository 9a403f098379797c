import { isLoopbackHost } from './proxy.ts'
import type { Secret } from './secret.ts'

/** A secret: anyone who knows the URL can write into the channel. */
export type WebhookUrl = { readonly url: Secret } | { readonly file: string }

/** @returns the URL, or the problem without the secret text */
export function parseTarget(text: string, allowInsecureHttp: boolean): URL | string {
  const url = URL.parse(text.trim())
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'is not an http or https URL'
  if (url.username !== '' || url.password !== '') return 'has a user or a password, which is not supported'
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopbackHost(url.hostname))
    return 'is plain http:, which others on the network can read. Use https:, or add --allow-insecure-http'
  return url
}
