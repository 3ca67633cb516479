import { ValidationResult, validateAddress, validateOperation } from '@taquito/utils'

/*
 * Base58check has one spelling for each value: a valid text is its own normal form. The patterns bound the length before
 * the library decodes.
 */
const addressForm = /^(?:tz[1-4]|KT1)[1-9A-HJ-NP-Za-km-z]{33}$/
const operationForm = /^o[1-9A-HJ-NP-Za-km-z]{50}$/
const assetForm = /^(KT1[1-9A-HJ-NP-Za-km-z]{33})(?:[:/](0|[1-9][0-9]{0,77}))?$/

/** The address is one of an account or a contract, without entrypoint. */
export const readTezosAddress = (text: string): string | null =>
  addressForm.test(text) && validateAddress(text) === ValidationResult.VALID ? text : null

export const readOperationHash = (text: string): string | null =>
  operationForm.test(text) && validateOperation(text) === ValidationResult.VALID ? text : null

/** `KT1…:<token id>`, from `KT1…:<token id>`, `KT1…/<token id>`, or `KT1…` for token 0. */
export const readTezosAsset = (text: string): string | null => {
  const [, contract, tokenId = '0'] = assetForm.exec(text) ?? []
  return contract === undefined || readTezosAddress(contract) === null ? null : toAsset(contract, tokenId)
}

export const toAsset = (contract: string, tokenId: string): string => `${contract}:${tokenId}`
