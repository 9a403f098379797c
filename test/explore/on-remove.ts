/**
 * `policy.onRemove` of the pipes in the worlds in which manifests go away. Undefined as long as no pipe is deleted: then the schema
 * knows no such field of a pipe. With 'delete' nothing else has to be changed here, but for how `remove` is called in `platform.ts`.
 */
export const ON_REMOVE: 'delete' | undefined = undefined
