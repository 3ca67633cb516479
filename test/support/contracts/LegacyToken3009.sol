// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {VrsToken3009} from "./Token3009.sol";

/// @notice Has the form with v, r and s only, so that no contract wallet can pay with it.
contract LegacyToken3009 is VrsToken3009 {
    constructor(string memory name, string memory version) VrsToken3009(name, version) {}
}
