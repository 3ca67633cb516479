import { AppError } from '../../errors.js'

const maxLength = 100
// Zero-width joiners and variation selectors are allowed: scripts and emoji need them.
const forbidden = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u

/** Trimmed, Unicode NFC. Throws INVALID_REQUEST. */
export const readProjectName = (text: string): string => {
  const name = text.length > maxLength * 8 ? '' : text.trim().normalize('NFC')
  const { length } = [...name]
  if (length >= 1 && length <= maxLength && visible.test(name) && !forbidden.test(name)) return name
  throw new AppError(
    'INVALID_REQUEST',
    'projectName: must be 1 to 100 visible characters, without control characters',
  )
}
