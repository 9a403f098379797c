export function outlineOf(
  source: string | undefined,
  tables: readonly { readonly targetTable?: string | undefined }[],
  { database, table }: { readonly database?: string | undefined; readonly table?: string | undefined },
): Readonly<Record<string, string>> {
  const targets = table === undefined ? tables.map(({ targetTable }) => targetTable) : [table]
  const [first, ...more] = targets
  const whole = [database, first].filter((name) => name !== undefined).join('.')
  return {
    ...(source !== undefined && { source }),
    ...(first !== undefined && { table: more.length === 0 ? whole : `${whole} and ${more.length} more` }),
    ...(first === undefined && database !== undefined && { database }),
  }
}
