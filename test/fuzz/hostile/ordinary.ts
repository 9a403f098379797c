import { countsOf, texts } from '../../bench/tree.ts'
import { alertText, endpointText, pipeText, serviceText } from '../../bench/manifest-texts.ts'
import type { Files } from './text.ts'

/** Ordinary manifests of about so many bytes: what a hostile catalog is measured against. */
export function ordinary(bytes: number): Files {
  const { services } = countsOf(Math.max(20, Math.round(bytes / 1_600)))
  const files = new Map([['services.yaml', texts(services, serviceText).join('---\n')]])
  const add = (name: string, text: string) => {
    files.set(name, text)
    return text.length
  }
  let size = files.get('services.yaml')?.length ?? 0
  for (let n = 0; n < services; n += 1) size += add(`endpoints/e${n}.yaml`, endpointText(n))
  for (let n = 0; size < bytes; n += 1) {
    size += add(`pipes/p${n}.yaml`, pipeText(n, services))
    if (n % 11 === 0) size += add(`alerts/a${n}.yaml`, alertText(n, services))
  }
  return files
}
