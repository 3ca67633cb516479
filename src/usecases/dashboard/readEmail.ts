import { AppError } from '../../errors.js'

const maxLength = 254
const maxLocalLength = 64
// Letters of any script; no white space, control or format characters, no RFC 5322 specials.
const localPart = /^[^\p{C}\p{Z}"(),:;<>@[\\\]]+$/u
const invisible = /\p{Default_Ignorable_Code_Point}/u
const label = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** Trimmed, Unicode NFC. Throws INVALID_REQUEST. */
export const readEmail = (text: string): string => {
  const email = text.length > maxLength * 4 ? '' : text.trim().normalize('NFC')
  const at = email.lastIndexOf('@')
  const local = email.slice(0, at)
  const labels = email.slice(at + 1).split('.')
  const isAddress =
    at > 0 &&
    email.length <= maxLength &&
    local.length <= maxLocalLength &&
    localPart.test(local) &&
    !invisible.test(email) &&
    !/^\.|\.\.|\.$/.test(local) &&
    labels.length > 1 &&
    labels.every((one) => label.test(one)) &&
    // Excludes IPv4 addresses.
    !/^\p{N}+$/u.test(labels.at(-1) ?? '')
  if (!isAddress)
    throw new AppError('INVALID_REQUEST', 'email: must be an e-mail address of at most 254 characters')
  return email
}
