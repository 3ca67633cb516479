import type { SchemaValidator, SchemaVerdict, ValidationTurn } from '../../ports/schemaValidator.js'
import { copySchema } from './copySchema.js'
import { readVisibleText } from './visibleText.js'

const maxProblemLength = 300

/** Size, depth and references of the schema were checked before. */
export const checkSchema = async (
  validator: SchemaValidator,
  { schema, info }: { readonly schema: unknown; readonly info: unknown },
  turn: ValidationTurn,
): Promise<SchemaVerdict> => {
  const copied = copySchema(schema)
  if ('problem' in copied) return { kind: 'broken', problem: copied.problem }
  const verdict = await validator.validate(copied.schema, info, turn)
  if (verdict.kind !== 'mismatch') return verdict
  const problem = readVisibleText(verdict.problem, maxProblemLength) ?? 'info does not match'
  return { kind: 'mismatch', problem }
}
