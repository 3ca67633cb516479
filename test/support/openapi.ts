import { z } from 'zod'

const sections = z.record(z.string(), z.record(z.string(), z.unknown()))
const documentShape = z.looseObject({ components: z.looseObject({}) })
const referenceForm = /^#\/components\/(parameters|requestBodies|responses)\/(\w+)$/

/** The document with the parameters, bodies and responses of each operation in it; schemas stay references. */
export const inlineComponents = (document: unknown): unknown => {
  const { components } = documentShape.parse(document)
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (typeof value !== 'object' || value === null) return value
    const [, section = '', name = ''] =
      '$ref' in value && typeof value.$ref === 'string' ? (referenceForm.exec(value.$ref) ?? []) : []
    if (section !== '') return inline(sections.parse(components)[section]?.[name])
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inline(part)]))
  }
  return inline(document)
}
