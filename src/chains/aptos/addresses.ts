import { createHash } from 'node:crypto'
import { AccountAddress } from '@aptos-labs/ts-sdk'

/** 32 bytes as 0x and 64 lowercase hex digits: one text for short, long and upper-case spellings. */
export type AptosAddress = string

const form = /^0x[0-9a-fA-F]{1,64}$/

/** Null unless it is 0x and 1 to 64 hex digits. */
export const readAptosAddress = (text: string): AptosAddress | null =>
  form.test(text) ? AccountAddress.from(text, { maxMissingChars: 63 }).toStringLong() : null

// OBJECT_DERIVED_SCHEME of 0x1::object.
const deriveScheme = Buffer.from([0xfc])

const toBytes = (address: AptosAddress): Buffer => Buffer.from(address.slice(2), 'hex')

/** Address of the account's primary fungible store of an asset: `object::create_user_derived_object_address`. */
export const getPrimaryStore = (owner: AptosAddress, metadata: AptosAddress): AptosAddress =>
  `0x${createHash('sha3-256')
    .update(toBytes(owner))
    .update(toBytes(metadata))
    .update(deriveScheme)
    .digest('hex')}`
