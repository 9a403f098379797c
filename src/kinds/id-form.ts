import { isUuid } from '../lib/same-id.ts'

export interface IdForm {
  readonly matches: (text: string | undefined) => boolean
  readonly not: string
  /** Describes the id that a person must give: "the UUID …, such as …". */
  readonly words: string
  /** Makes an id for a planned resource. @param uuid a random UUID */
  madeOf(uuid: string): string
}

export const UUID_FORM: IdForm = {
  matches: isUuid,
  not: 'is no UUID',
  words: 'the UUID that the console shows, such as 0b6c1d1e-5a3e-4c1f-9b57-2f6c8f0f3a11',
  madeOf: (uuid) => uuid,
}

export const HEX_FORM: IdForm = {
  matches: (text) => text !== undefined && /^[0-9a-f]{24}$/i.test(text),
  not: 'is not 24 hexadecimal digits',
  words: 'its 24 hexadecimal digits, such as 66d0f1a2b3c4d5e6f7a8b9c2',
  madeOf: (uuid) => uuid.replaceAll('-', '').slice(0, 24),
}
