import type { Clock } from '../../lib/clock.ts'
import type { Contact } from '../../plan/input.ts'

/** Requests without a reply. */
const UNREACHABLE_AFTER = 3

/** By the service's name. */
interface Contacts {
  of(service: string): Contact | undefined
  /** @returns whether the contact changed */
  note(service: string, contact: Contact): boolean
  /** ms since the epoch. */
  answeredAt(service: string): number | undefined
}

export function createContacts(clock: Pick<Clock, 'now'>): Contacts {
  const known = new Map<
    string,
    { readonly contact: Contact; readonly silences: number; readonly answeredAt: number | undefined }
  >()
  return {
    of: (service) => known.get(service)?.contact,
    answeredAt: (service) => known.get(service)?.answeredAt,
    note(service, contact) {
      const before = known.get(service)
      const silences = contact.type === 'unreachable' ? (before?.silences ?? 0) + 1 : 0
      const isDoubtful =
        contact.type === 'unreachable' && before?.contact.type === 'answered' && silences < UNREACHABLE_AFTER
      const now = isDoubtful ? before.contact : contact
      const answeredAt = contact.type === 'answered' ? clock.now() : before?.answeredAt
      known.set(service, { contact: now, silences, answeredAt })
      return before?.contact.type !== now.type
    },
  }
}
