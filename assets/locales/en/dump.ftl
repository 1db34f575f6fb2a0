# dump
