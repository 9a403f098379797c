import { catalogSteps, type CatalogInput } from '../../src/manifest/catalog/next-catalog.ts'
import { parseSteps, type FileContent } from '../../src/manifest/validate/parse-file.ts'

/* The steps of a reading without a break between them. */

export function parseFile(content: FileContent, options: Parameters<typeof parseSteps>[1]) {
  return atOnce(parseSteps(content, options))
}

export function nextCatalog(input: CatalogInput) {
  return atOnce(catalogSteps(input))
}

function atOnce<T>(steps: Generator<void, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value
}
