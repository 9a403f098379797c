import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'

/** A text without secrets, as a test shows it. */
export const masked = createSecretMask().mask
