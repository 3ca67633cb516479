// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {ERC4337} from "solady/src/accounts/ERC4337.sol";
import {ERC4337Factory} from "solady/src/accounts/ERC4337Factory.sol";

/// @notice Solady's smart wallet, as it is meant to be used: a name for its domain and nothing else.
contract SoladyWallet is ERC4337 {
    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("SoladyWallet", "1");
    }
}

/// @notice Deploys SoladyWallet at addresses that are known beforehand.
contract SoladyWalletFactory is ERC4337Factory {
    constructor(address implementation) ERC4337Factory(implementation) {}
}
