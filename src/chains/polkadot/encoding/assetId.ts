const wholeForm = /^(?:0|[1-9][0-9]{0,9})$/
const maxId = 0xffff_ffff

/** Id of the pallet `assets`, as text or number; null if it is no u32. */
export const readAssetId = (value: unknown): string | null => {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !wholeForm.test(text)) return null
  return Number(text) <= maxId ? text : null
}
