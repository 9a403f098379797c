import { isUuid } from '../lib/same-id.ts'

/** What the ids look like under which a service keeps what it created. */
export interface IdForm {
  readonly matches: (text: string | undefined) => boolean
  /** What is wrong with a text that is none: "is no UUID". */
  readonly not: string
  /** Such an id, as people are told to give one: "the UUID …, such as …". */
  readonly words: string
  /** One for what is only made up, as in a plan. @param uuid a new one */
  madeOf(uuid: string): string
}

const UUID_FORM: IdForm = {
  matches: isUuid,
  not: 'is no UUID',
  words: 'the UUID that the console shows, such as 0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11',
  madeOf: (uuid) => uuid,
}

/** As MongoDB makes them. */
export const HEX_FORM: IdForm = {
  matches: (text) => text !== undefined && /^[0-9a-f]{24}$/i.test(text),
  not: 'is not 24 hexadecimal digits',
  words: 'its 24 hexadecimal digits, such as 66d0f1a2b3c4d5e6f7a8b9c2',
  madeOf: (uuid) => uuid.replaceAll('-', '').slice(0, 24),
}

/** That of a kind. */
export function idFormOf({ idForm = UUID_FORM }: { readonly idForm?: IdForm }): IdForm {
  return idForm
}
