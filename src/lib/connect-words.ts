import { formatDuration } from './duration.ts'
import type { ProxyFault } from './proxy.ts'

/** Why a connection could not be made. Codes only, never the text of an error: it may repeat what was sent. */
export function connectWords(code: string): string {
  if (code === 'ECONNREFUSED') return 'it was refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of the host does not resolve'
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'it took too long'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another host'
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired'
  if (isClientCertificateRefused(code)) return 'it wants another client certificate; check --client-cert-file'
  if (isTlsFailure(code)) {
    return 'TLS failed; name the authority that signed its certificate in --ca-file (PIPEWRIGHT_CA_FILE)'
  }
  return 'it could not be made'
}

export function isTlsFailure(code: string): boolean {
  return /TLS|SSL|CERT|SIGNED|SIGNATURE|EPROTO/.test(code)
}

/** The other side ends TLS because of the certificate that we show, or do not show. */
export function isClientCertificateRefused(code: string): boolean {
  return /^ERR_SSL_.*ALERT_(?:\w*CERTIFICATE|UNKNOWN_CA)/.test(code)
}

/** What is wrong with the proxy, and what to do. Never its user and password. */
export function proxyWords(fault: ProxyFault): string {
  const { origin, from } = fault.proxy
  const proxy = `the proxy ${origin}`
  switch (fault.type) {
    case 'unreachable':
      return `${proxy} could not be reached (${from}): ${connectWords(fault.code)} (${fault.code})`
    case 'cut':
      return `${proxy} cut the connection before the way was open (${fault.code})`
    case 'silent':
      return `${proxy} did not open the way within ${formatDuration(fault.afterMs)}`
    case 'refused':
      return `${proxy} ${refusalWords(fault.status, from)}`
  }
}

/** @param from the variable that names the proxy */
function refusalWords(status: number, from: string): string {
  if (status === 407) return `wants a user and a password that it knows (407); check those in ${from}`
  if (status >= 500) return `could not reach the host (${status})`
  return `does not open the way to the host (${status}); allow the host there, or name it in NO_PROXY`
}
