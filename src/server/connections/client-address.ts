import { isIPv6 } from 'node:net'

/** Groups of an IPv6 address that are the network's: the rest is its client's own to choose. */
const NETWORK_GROUPS = 4

/** What is counted as one client: an IPv4 address, or the network of an IPv6 one (/64). Undefined: the client is gone. */
export function addressOf(remote: string | undefined): string | undefined {
  if (remote === undefined || !isIPv6(remote)) return remote
  const [address = ''] = remote.split('%') // the zone of a link-local one
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1) // IPv4, on a socket for both
  const [front = '', back = ''] = address.split('::')
  const [before, after] = [front, back].map((groups) => (groups === '' ? [] : groups.split(':')))
  const left = before ?? []
  const zeros = address.includes('::') ? 8 - left.length - (after ?? []).length : 0
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...(after ?? [])]
  return `${all.slice(0, NETWORK_GROUPS).join(':')}::/64`
}
