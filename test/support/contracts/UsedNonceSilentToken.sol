// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {VrsToken3009, Token3009} from "./Token3009.sol";

/// @notice Answers a used nonce with an event and a success, as PYUSD does: the transaction of a second
/// settlement succeeds and moves nothing.
contract UsedNonceSilentToken is Token3009 {
    event AuthorizationAlreadyUsed(address indexed authorizer, bytes32 indexed nonce);

    constructor(string memory name, string memory version) VrsToken3009(name, version) {}

    function _isSettledAlready(address from, bytes32 nonce) internal override returns (bool) {
        if (!authorizationState[from][nonce]) return false;
        emit AuthorizationAlreadyUsed(from, nonce);
        return true;
    }
}
